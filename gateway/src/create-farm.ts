import { hostname } from "node:os";
import type { Clock, Random } from "@farmgate/shared";
import {
  Access,
  BodyRoom,
  KeyRing,
  type Log,
  type OpenMulticast,
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
import { CatalogStore } from "./catalog/store.ts";
import { accessRules, type GatewayConfig } from "./config.ts";
import type { Farm } from "./farm.ts";
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
import { LiveRequests } from "./proxy/live-requests.ts";
import { RetryBudget } from "./proxy/retry-budget.ts";
import { routingContext } from "./proxy/routing-context.ts";
import { SilenceWatch } from "./proxy/silence-watch.ts";
import { WaitComments } from "./proxy/wait-comments.ts";
import { askAgent } from "./registry/ask-agent.ts";
import { addressesOf, checkedLookup, hostOf } from "./registry/lookups.ts";
import { Registrar } from "./registry/registrar.ts";
import { Affinity } from "./routing/affinity.ts";
import { FirstBytes } from "./routing/first-bytes.ts";
import { Learned } from "./routing/learned.ts";
import { nameRules } from "./routing/resolve-name.ts";
import { Turns } from "./routing/turns.ts";
import { Inflight } from "./state/inflight.ts";
import { alone } from "./together/alone.ts";
import { Drains } from "./together/drains.ts";
import type { Hub } from "./together/hub.ts";
import { makeHub } from "./together/make-hub.ts";
import { type OrderRight, PlacingLease } from "./together/placing-lease.ts";
import { SharedUse } from "./together/shared-use.ts";
import { Recorder } from "./trace/recorder.ts";

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

function slotsOf(farm: Farm): SlotsView {
  return { context: routingContext(farm, 0), calls: farm.live.all(), rates: farm.pairRates };
}

/** All that a gateway holds; nothing of it runs yet. `id`: its own. */
export function createFarm(options: GatewayOptions, id: string, tracing: Tracing | null): Farm {
  const { config, clock, random, log, version } = options;
  const hub = options.hub ?? makeHub(config, { id, clock, log });
  const inflight = new Inflight(hub);
  const waitingRoom = new WaitingRoom();
  const catalog = new CatalogStore(clock, config.health);
  const room = roomForCallers();
  const bodies = new BodyRoom();
  const keys = new KeyRing(config.keys);
  const names = nameRules(config.models);
  const registrar = createRegistrar(() => farm, { clock, log, hub });
  const upstreams = new Upstreams(config.timeouts.connect, registrar.lookup);
  const placingLease = new PlacingLease({ hub, clock, log });
  const placing = createPlacing(options, { names, catalog, inflight, upstreams, right: placingLease }, (kind, result) =>
    metrics.placed(kind, result),
  );
  const deadlineQueue = createDeadlineQueue(options, waitingRoom, () => farm);
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
    registrar,
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

function createDeadlineQueue(
  { clock, log }: GatewayOptions,
  waitingRoom: WaitingRoom,
  farm: () => Farm,
): DeadlineQueue {
  return new DeadlineQueue({
    clock,
    isOn: () => farm().config.scheduling === "deadline",
    pairs: (request) => pairsNow(slotsOf(farm()), request),
    besides: () => waitingRoom,
    failed: (err) => log.error({ err }, "the queue by deadlines failed: who waits there goes on without it"),
  });
}

function createRegistrar(farm: () => Farm, shared: Pick<Farm, "clock" | "log" | "hub">): Registrar {
  return new Registrar({
    ...shared,
    inFile: () => new Set(farm().config.workers.map(({ name }) => name)),
    isSibling: (member) => farm().siblings.members().includes(member),
    isFileHost: (host) => farm().config.workers.some(({ url }) => hostOf(url) === host),
    addressesOf,
    ask: (worker, fault) => {
      const timeoutMs = farm().config.health.timeout;
      return askAgent(worker, { clock: shared.clock, timeoutMs, lookup: checkedLookup(fault) });
    },
  });
}
