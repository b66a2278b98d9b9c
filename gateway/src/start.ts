import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import type { Clock, Random } from "@farmgate/shared";
import {
  Access,
  BodyRoom,
  FrontServer,
  KeyRing,
  type Log,
  openMulticast,
  type OpenMulticast,
  openTracing,
  roomForCallers,
  type TlsPair,
  type Tracing,
  Upstreams,
} from "@farmgate/wire";
import { BatchLimits } from "./batching/batch-limits.ts";
import { OpenBatches } from "./batching/open-batches.ts";
import { DrainRate } from "./admission/drain-rate.ts";
import { DeadlineQueue } from "./scheduling/deadline-queue.ts";
import { PairRates } from "./scheduling/pair-rates.ts";
import { pairsNow, type SlotsView } from "./scheduling/pairs-now.ts";
import { WaitingRoom } from "./admission/waiting-room.ts";
import { breakerNews } from "./catalog/breaker-news.ts";
import { CatalogPoller } from "./catalog/poller.ts";
import { CatalogStore } from "./catalog/store.ts";
import type { CatalogEvent } from "./catalog/types.ts";
import { workerNews } from "./catalog/worker-news.ts";
import { accessRules, type GatewayConfig } from "./config.ts";
import type { Farm } from "./farm.ts";
import { createDoor, createSocketDoor } from "./http/door.ts";
import { RequestIds } from "./http/request-id.ts";
import { Metrics } from "./metrics.ts";
import { Keeper } from "./placement/keeper.ts";
import { LastCopies } from "./placement/last-copies.ts";
import { PlacementController } from "./placement/live/controller.ts";
import { OrderDesk } from "./placement/order-desk.ts";
import { RecentUse } from "./placement/recent-use.ts";
import { wantedCopies } from "./placement/wanted-copies.ts";
import { Accounts } from "./proxy/accounts.ts";
import { markOf } from "./proxy/headers.ts";
import { leaveGone } from "./proxy/leave-gone.ts";
import { LiveRequests } from "./proxy/live-requests.ts";
import { RetryBudget } from "./proxy/retry-budget.ts";
import { routingContext } from "./proxy/routing-context.ts";
import { SilenceWatch } from "./proxy/silence-watch.ts";
import { WaitComments } from "./proxy/wait-comments.ts";
import { announceGateway } from "./registry/announce.ts";
import { applyWorkers } from "./registry/apply-workers.ts";
import { askAgent } from "./registry/ask-agent.ts";
import { Registrar } from "./registry/registrar.ts";
import { type Reloaded, reloadFarm } from "./reload.ts";
import { createControl } from "./routes/control.ts";
import { Affinity } from "./routing/affinity.ts";
import { FirstBytes } from "./routing/first-bytes.ts";
import { Learned } from "./routing/learned.ts";
import { nameRules } from "./routing/resolve-name.ts";
import { Turns } from "./routing/turns.ts";
import { drainFarm } from "./drain.ts";
import { Inflight } from "./state/inflight.ts";
import { alone } from "./together/alone.ts";
import { Drains } from "./together/drains.ts";
import type { Hub } from "./together/hub.ts";
import { catchUp, joinOthers } from "./together/join.ts";
import { makeHub } from "./together/make-hub.ts";
import { meetSiblings } from "./together/siblings.ts";
import { type OrderRight, PlacingLease } from "./together/placing-lease.ts";
import { pace } from "./together/poll-duty.ts";
import { SharedUse } from "./together/shared-use.ts";
import { Recorder } from "./trace/recorder.ts";
import { within } from "./within.ts";

const HEADER_BYTES = 32 * 1_024;

/** So long the first requests wait to hear from the other gateways which workers are drained, in milliseconds. */
const JOIN_MS = 1_000;

export interface GatewayOptions {
  config: GatewayConfig;
  /** What `config.tls` names; null or absent: plain HTTP. */
  tls?: TlsPair | null;
  clock: Clock;
  random: Random;
  log: Log;
  version: string;
  /** Where it meets the others of its farm; absent: where `config.redis` says. */
  hub?: Hub;
  /** Where it meets the other processes of its host, whose figures are told as one; absent: there are none. */
  siblings?: Hub;
  /** How the local network is told of it; absent: by multicast DNS. */
  openMulticast?: OpenMulticast;
}

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
  // Not of `random`: no two gateways may share it.
  const id = randomBytes(6).toString("hex");
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
    pace: (worker, reach) => pace(hub, worker, reach),
  });
}

function applyPolled(farm: Farm, event: CatalogEvent, seen: "here" | "elsewhere"): void {
  if (farm.config.routing.waitOrSwap && event.type === "polled" && event.result.kind === "ok") {
    farm.inflight.polled(event.worker);
  }
  farm.catalog.apply(event, seen);
}

function slotsOf(farm: Farm): SlotsView {
  return { context: routingContext(farm, 0), calls: farm.live.all(), rates: farm.pairRates };
}

/** `id`: its own. */
function createFarm(options: GatewayOptions, id: string, tracing: Tracing | null): Farm {
  const { config, clock, random, log, version } = options;
  const hub = options.hub ?? makeHub(config, { id, clock, log });
  const inflight = new Inflight(hub);
  const waitingRoom = new WaitingRoom();
  const catalog = new CatalogStore(clock, config.health);
  const room = roomForCallers();
  const bodies = new BodyRoom();
  const keys = new KeyRing(config.keys);
  const names = nameRules(config.models);
  const upstreams = new Upstreams(config.timeouts.connect);
  const placingLease = new PlacingLease({ hub, clock, log });
  const placing = createPlacing(options, { names, catalog, inflight, upstreams, right: placingLease }, (kind, result) =>
    metrics.placed(kind, result),
  );
  const deadlineQueue = new DeadlineQueue({
    clock,
    isOn: () => farm.config.scheduling === "deadline",
    pairs: (request) => pairsNow(slotsOf(farm), request),
    besides: () => waitingRoom,
    failed: (err) => log.error({ err }, "the queue by deadlines failed: who waits there goes on without it"),
  });
  const metrics = new Metrics({
    catalog: () => catalog.current,
    inflight,
    hub: hub.isShared ? hub : null,
    waiting: () => waitingRoom.size + deadlineQueue.size,
    bodyBytes: () => bodies.heldBytes,
    copies: placing.keeper,
    replicas: () => placing.placement.replicas(),
    now: () => clock.now(),
  });
  const use = new SharedUse({ clock, hub, ...placing });
  const farm: Farm = {
    clock,
    random,
    log,
    version,
    mark: markOf(id),
    tracing,
    hub,
    siblings: options.siblings ?? alone(id),
    drains: new Drains({ clock, hub, catalog }),
    placingLease,
    startedAt: clock.now(),
    config,
    names,
    draining: false,
    isReady: false,
    ready: Promise.resolve(),
    ids: new RequestIds(random),
    keys,
    access: new Access(keys, accessRules(config), hostname()),
    catalog,
    inflight,
    turns: new Turns(),
    affinity: new Affinity(),
    learned: new Learned(),
    firstBytes: new FirstBytes(),
    retries: new RetryBudget(),
    ...placing,
    use,
    registrar: new Registrar({
      clock,
      log,
      hub,
      inFile: () => new Set(farm.config.workers.map(({ name }) => name)),
      ask: (worker) => askAgent(worker, clock, farm.config.health.timeout),
    }),
    upstreams,
    waitingRoom,
    deadlineQueue,
    pairRates: new PairRates(),
    drainRate: new DrainRate(),
    connectionLimit: () => Math.min(farm.config.limits.connections || room, room),
    live: new LiveRequests(),
    batches: new OpenBatches(),
    batchLimits: new BatchLimits(),
    comments: new WaitComments(() => farm),
    silence: new SilenceWatch(() => farm),
    bodies,
    metrics,
    accounts: new Accounts({ clock, log, metrics, catalog: () => catalog.current, placement: use }),
    recorder: new Recorder({ clock, catalog: () => catalog.current }),
  };
  return farm;
}

type Placing = Pick<Farm, "recentUse" | "lastCopies" | "desk" | "keeper" | "placement">;

/** What has models loaded and unloaded; `count` is told of each order of placement. */
function createPlacing(
  { config, clock, random, log }: GatewayOptions,
  { names, ...shared }: Pick<Farm, "names" | "catalog" | "inflight" | "upstreams"> & { right: OrderRight },
  count: (kind: string, result: string) => void,
): Placing {
  const recentUse = new RecentUse();
  const lastCopies = new LastCopies(recentUse);
  const desk = new OrderDesk({ clock, log, ...shared });
  const keeper = new Keeper({ clock, log, ...shared, desk, recentUse, lastCopies });
  keeper.configure(wantedCopies(config.models.keepWarm, names));
  const placement = new PlacementController({ clock, log, random, ...shared, keeper, desk, count });
  placement.configure(config.placement);
  return { recentUse, lastCopies, desk, keeper, placement };
}
