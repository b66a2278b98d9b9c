import { FarmError } from "@farmgate/shared";
import type { FrontServer } from "@farmgate/wire";
import type { FastifyInstance } from "fastify";
import type { CatalogPoller } from "./catalog/poller.ts";
import { drainingError } from "./admission/draining-error.ts";
import type { Farm } from "./farm.ts";
import { within } from "./within.ts";

/** What is on its way to a process that leaves comes within so many milliseconds. */
const LAST_ASKED_MS = 5_000;

/**
 * The first part of the end of one process whose siblings go on: new connections are theirs; what it has, and what still
 * comes on its own connections, is served as before. Resolves when nothing is left, at `endAt`, or when `isOver`
 * resolves: the siblings end as well.
 */
export async function serveTheRest(
  farm: Farm,
  server: FrontServer,
  endAt: number,
  isOver: Promise<unknown>,
): Promise<void> {
  const { clock, live, log } = farm;
  log.info(
    { running: live.all().length },
    "leaves: the other processes take what comes, and this one ends what it has",
  );
  const served = server.leave(LAST_ASKED_MS, clock).then(() => live.idle());
  await within(clock, Promise.race([served, isOver]), endAt - clock.now());
}

/**
 * Stops a gateway: no new connections; new requests, those that are still on their way and those that wait are told
 * `draining`; running answers end by `endAt`, and what is left then is cancelled.
 */
export async function drainFarm(
  farm: Farm,
  app: FastifyInstance,
  server: FrontServer,
  poller: CatalogPoller,
  endAt: number,
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
  if (!(await within(farm.clock, farm.live.idle(), endAt - startedAt))) {
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
  await server.end(endAt - farm.clock.now(), farm.clock);
  await Promise.all([poller.stop(), saved]);
  await farm.upstreams.destroy();
  await app.close();
  farm.accounts.settle();
  await farm.tracing?.close();
  farm.log.info({ ms: Math.round(farm.clock.now() - startedAt) }, "stopped");
}
