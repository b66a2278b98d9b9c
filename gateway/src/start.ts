import { randomBytes } from "node:crypto";
import { FrontServer, openMulticast, openTracing, type TlsPair } from "@farmgate/wire";
import { breakerNews } from "./catalog/breaker-news.ts";
import { CatalogPoller } from "./catalog/poller.ts";
import type { CatalogEvent } from "./catalog/types.ts";
import { workerNews } from "./catalog/worker-news.ts";
import { type GatewayConfig } from "./config.ts";
import type { Farm } from "./farm.ts";
import { createDoor, createSocketDoor } from "./http/door.ts";
import { leaveGone } from "./proxy/leave-gone.ts";
import { announceGateway } from "./registry/announce.ts";
import { applyWorkers } from "./registry/apply-workers.ts";
import { type Reloaded, reloadFarm } from "./reload.ts";
import { createControl } from "./routes/control.ts";
import { drainFarm } from "./drain.ts";
import { catchUp, joinOthers } from "./together/join.ts";
import { meetSiblings } from "./together/siblings.ts";
import { pace } from "./together/poll-duty.ts";
import { within } from "./within.ts";
import { createFarm, type GatewayOptions } from "./create-farm.ts";

const HEADER_BYTES = 32 * 1_024;

/** So long the first requests wait to hear from the other gateways which workers are drained, in milliseconds. */
const JOIN_MS = 1_000;

export interface RunningGateway {
  url: string;
  port: number;
  /** Applies a changed configuration without dropping anything; says which keys wait for a restart. */
  reload(config: GatewayConfig): Reloaded;
  /** Shows new connections a renewed certificate. Throws when it cannot be used; then the old one stays. */
  renew(pair: TlsPair): void;
  /** Drains: running answers end within `drain`, then everything stops. */
  close(): Promise<void>;
}

/** Starts one gateway; resolves once it listens. Rejects when its port is taken. */
export async function startGateway(options: GatewayOptions): Promise<RunningGateway> {
  const { config, clock, log, version } = options;
  // Not of `random`: no two gateways may share it. Processes of one host know each other by it wherever they meet.
  const id = options.siblings?.id ?? randomBytes(6).toString("hex");
  const service = { name: "farmgate-gateway", version, instance: id };
  const farm = createFarm(options, id, await openTracing(config.telemetry, service, { clock, log }));
  const poller = createPoller(farm);
  farm.catalog.onChange((after, before) => {
    farm.waitingRoom.wake();
    farm.deadlineQueue.wake();
    leaveGone(farm, after, before);
    const news = [...workerNews(before, after), ...breakerNews(before, after)];
    for (const { level, worker, message } of news) log[level]({ worker }, `${worker} ${message}`);
  });
  farm.hub.onChange(() => {
    farm.inflight.othersChanged();
    farm.waitingRoom.wake();
    farm.deadlineQueue.wake();
  });
  const server = new FrontServer(
    {
      body: () => farm.config.limits.body,
      headers: HEADER_BYTES,
      connections: farm.connectionLimit,
      stallMs: () => farm.config.timeouts.caller,
      handedOver: farm.siblings.isShared,
    },
    clock,
    options.tls,
  );
  const app = await createControl(farm, (control) => server.onRequest(createDoor(farm, control)));
  server.onWebSocket(createSocketDoor(farm));
  farm.registrar.start(() => applyWorkers(farm, poller));
  // Before a caller may ask, so that its request counts among those of all.
  await joinOthers(farm, poller);
  await meetSiblings(farm);
  const { url, port } = await server.listenOn(config.listen).catch(async (error: unknown) => {
    await farm.hub.close();
    throw error;
  });
  applyWorkers(farm, poller);
  farm.ready = Promise.all([poller.firstRound, within(clock, catchUp(farm), JOIN_MS)]).then(() => {
    farm.isReady = true;
    if (farm.draining) return;
    farm.placingLease.take(() => {
      farm.keeper.look();
      farm.placement.rightChanged();
    });
    farm.keeper.start();
    farm.placement.start();
  });
  const takeBack = announceGateway(farm, port, options.openMulticast ?? openMulticast);
  log.info({ url, workers: config.workers.length }, "listening");
  let closing: Promise<void> | null = null;
  return {
    url,
    port,
    reload: (next) => reloadFarm(farm, poller, next),
    renew: (pair) => server.renew(pair),
    close() {
      closing ??= Promise.all([drainFarm(farm, app, server, poller), takeBack()]).then(() => {});
      return closing;
    },
  };
}

function createPoller(farm: Farm): CatalogPoller {
  const { clock, random, hub } = farm;
  return new CatalogPoller({
    clock,
    random,
    apply: (event) => applyPolled(farm, event, "here"),
    applyTold: (event) => applyPolled(farm, event, "elsewhere"),
    flowing: (worker, since) => farm.live.flowing(worker, since),
    lookup: farm.registrar.lookup,
    pace: (worker, reach) => pace(hub, worker, reach),
  });
}

function applyPolled(farm: Farm, event: CatalogEvent, seen: "here" | "elsewhere"): void {
  if (farm.config.routing.waitOrSwap && event.type === "polled" && event.result.kind === "ok") {
    farm.inflight.polled(event.worker);
  }
  farm.catalog.apply(event, seen);
}
