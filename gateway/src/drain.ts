import { FarmError } from "@farmgate/shared";
import type { FrontServer } from "@farmgate/wire";
import type { FastifyInstance } from "fastify";
import type { CatalogPoller } from "./catalog/poller.ts";
import { drainingError } from "./admission/draining-error.ts";
import type { Farm } from "./farm.ts";
import { within } from "./within.ts";

/**
 * Stops a gateway: no new connections; new requests, those that are still on their way and those that wait are told
 * `draining`; running answers end within `drain`, and what is left then is cancelled.
 */
export async function drainFarm(
  farm: Farm,
  app: FastifyInstance,
  server: FrontServer,
  poller: CatalogPoller,
): Promise<void> {
  const startedAt = farm.clock.now();
  farm.draining = true;
  farm.keeper.stop();
  const saved = farm.placement.stop();
  const released = farm.placingLease.release();
  farm.log.info(
    { running: farm.live.all().length, waiting: farm.waitingRoom.size + farm.deadlineQueue.size },
    "draining",
  );
  server.close();
  farm.waitingRoom.turnAllAway();
  for (const call of farm.live.all()) {
    if (call.phase === "receiving" || call.phase === "waiting") call.cancel(drainingError());
  }
  if (!(await within(farm.clock, farm.live.idle(), farm.config.drain))) {
    const stopped = new FarmError("draining", "The gateway stopped before the answer was complete.");
    farm.log.warn({ running: farm.live.all().length }, "the drain time is over: cancelling what still runs");
    for (const call of farm.live.all()) call.cancel(stopped);
  }
  // The last requests are in it.
  farm.recorder.close();
  farm.registrar.stop();
  await released;
  await farm.hub.close();
  if (farm.siblings !== farm.hub) await farm.siblings.close();
  await server.end(startedAt + farm.config.drain - farm.clock.now(), farm.clock);
  await Promise.all([poller.stop(), saved]);
  await farm.upstreams.destroy();
  await app.close();
  farm.accounts.settle();
  await farm.tracing?.close();
  farm.log.info({ ms: Math.round(farm.clock.now() - startedAt) }, "stopped");
}
