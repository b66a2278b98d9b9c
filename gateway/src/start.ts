import { randomBytes } from "node:crypto";
import { FrontServer, type Opened, openedWhole, openMulticast, openTracing, type TlsPair } from "@farmgate/wire";
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
import { drainFarm, serveTheRest } from "./drain.ts";
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
  /**
   * The same for one process whose siblings go on: it ends what it has, what waits as well, and what still comes on its
   * connections; new ones are theirs. `close` meanwhile: they do not go on.
   */
  leave(): Promise<void>;
}

/** Starts one gateway; resolves once it listens. Rejects when it cannot, as when its port is taken, with all closed. */
export function startGateway(options: GatewayOptions): Promise<RunningGateway> {
  return openedWhole(options.log, (opened) => start(options, opened));
}

async function start(options: GatewayOptions, opened: Opened): Promise<RunningGateway> {
  const { config, clock, log, version } = options;
  // Not of `random`: no two gateways may share it. Processes of one host know each other by it wherever they meet.
  const id = options.siblings?.id ?? randomBytes(6).toString("hex");
  const service = { name: "farmgate-gateway", version, instance: id };
  const tracing = opened.add(await openTracing(config.telemetry, service, { clock, log }), (open) => open?.close());
  const farm = createFarm(options, id, tracing);
  opened.add(farm.upstreams, (upstreams) => upstreams.destroy());
  const poller = opened.add(createPoller(farm), (polls) => polls.stop());
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
  opened.add(app, (control) => control.close());
  server.onWebSocket(createSocketDoor(farm));
  opened.add(farm.registrar, (registrar) => registrar.stop());
  farm.registrar.start(() => applyWorkers(farm, poller));
  // Before a caller may ask, so that its request counts among those of all.
  opened.add(farm.hub, (hub) => hub.close());
  await joinOthers(farm, poller);
  if (farm.siblings !== farm.hub) opened.add(farm.siblings, (siblings) => siblings.close());
  await meetSiblings(farm);
  opened.add(server, (door) => door.close().closeAllConnections());
  const { url, port } = await server.listenOn(config.listen);
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
  let endAt: number | null = null;
  let closing: Promise<void> | null = null;
  let leaving: Promise<void> | null = null;
  let endRest = () => {};
  const rest = new Promise<void>((resolve) => (endRest = resolve));
  const close = (): Promise<void> => {
    endRest();
    endAt ??= clock.now() + farm.config.drain;
    closing ??= Promise.all([drainFarm(farm, app, server, poller, endAt), takeBack()]).then(() => {});
    return closing;
  };
  return {
    url,
    port,
    reload: (next) => reloadFarm(farm, poller, next),
    renew: (pair) => server.renew(pair),
    close,
    leave() {
      endAt ??= clock.now() + farm.config.drain;
      leaving ??= closing ?? serveTheRest(farm, server, endAt, rest).then(close);
      return leaving;
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
