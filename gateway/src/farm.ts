import type { Clock, Random } from "@farmgate/shared";
import type { Access, BodyRoom, KeyRing, Log, Tracing, Upstreams } from "@farmgate/wire";
import type { BatchLimits } from "./batching/batch-limits.ts";
import type { Joiner } from "./batching/joiner.ts";
import type { OpenBatches } from "./batching/open-batches.ts";
import type { DrainRate } from "./admission/drain-rate.ts";
import type { DeadlineQueue } from "./scheduling/deadline-queue.ts";
import type { PairRates } from "./scheduling/pair-rates.ts";
import type { WaitingRoom } from "./admission/waiting-room.ts";
import type { CatalogStore } from "./catalog/store.ts";
import type { GatewayConfig } from "./config.ts";
import type { RequestIds } from "./http/request-id.ts";
import type { Metrics } from "./metrics.ts";
import type { Accounts } from "./proxy/accounts.ts";
import type { Call } from "./proxy/call.ts";
import type { Keeper } from "./placement/keeper.ts";
import type { PlacementController } from "./placement/live/controller.ts";
import type { LastCopies } from "./placement/last-copies.ts";
import type { OrderDesk } from "./placement/order-desk.ts";
import type { RecentUse } from "./placement/recent-use.ts";
import type { LiveRequests } from "./proxy/live-requests.ts";
import type { Registrar } from "./registry/registrar.ts";
import type { RetryBudget } from "./proxy/retry-budget.ts";
import type { SilenceWatch } from "./proxy/silence-watch.ts";
import type { WaitComments } from "./proxy/wait-comments.ts";
import type { Affinity } from "./routing/affinity.ts";
import type { FirstBytes } from "./routing/first-bytes.ts";
import type { Learned } from "./routing/learned.ts";
import type { NameRules } from "./routing/resolve-name.ts";
import type { Turns } from "./routing/turns.ts";
import type { Inflight } from "./state/inflight.ts";
import type { Drains } from "./together/drains.ts";
import type { Hub } from "./together/hub.ts";
import type { PlacingLease } from "./together/placing-lease.ts";
import type { SharedUse } from "./together/shared-use.ts";
import type { Recorder } from "./trace/recorder.ts";

/** Everything that a running gateway holds, for those who serve a request with it. */
export interface Farm {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly version: string;
  /** This gateway's mark in Via. */
  readonly mark: string;
  /** null: no traces are made. */
  readonly tracing: Tracing | null;
  /** The other gateways of this farm. */
  readonly hub: Hub;
  /** The other processes of this host, for figures that are told as one; `hub` itself where there is no Redis. */
  readonly siblings: Hub;
  readonly drains: Drains;
  readonly placingLease: PlacingLease;
  /** Milliseconds on `clock.now`. */
  readonly startedAt: number;
  /** Replaced as a whole by a reload. */
  config: GatewayConfig;
  /** Of `config`. */
  names: NameRules;
  /** No new work is taken. */
  draining: boolean;
  /** The first round of polls is over, or its time is; `ready` resolves then. */
  isReady: boolean;
  ready: Promise<void>;
  readonly ids: RequestIds;
  readonly keys: KeyRing;
  /** Who may do what, by those keys and where it comes from. */
  readonly access: Access;
  readonly catalog: CatalogStore;
  readonly inflight: Inflight;
  readonly turns: Turns;
  readonly affinity: Affinity;
  readonly learned: Learned;
  readonly firstBytes: FirstBytes;
  readonly retries: RetryBudget;
  readonly recentUse: RecentUse;
  readonly lastCopies: LastCopies;
  readonly keeper: Keeper;
  readonly desk: OrderDesk;
  readonly placement: PlacementController;
  readonly use: SharedUse;
  /** The workers that announced themselves. */
  readonly registrar: Registrar;
  readonly upstreams: Upstreams;
  readonly waitingRoom: WaitingRoom;
  /** Where requests wait for a slot, with `scheduling: deadline`. */
  readonly deadlineQueue: DeadlineQueue;
  readonly pairRates: PairRates;
  readonly drainRate: DrainRate;
  /** Open connections of callers at most; `Infinity`: no limit. */
  readonly connectionLimit: () => number;
  readonly live: LiveRequests<Call>;
  readonly batches: OpenBatches<Joiner>;
  readonly batchLimits: BatchLimits;
  readonly comments: WaitComments;
  readonly silence: SilenceWatch;
  readonly bodies: BodyRoom;
  readonly metrics: Metrics;
  readonly accounts: Accounts;
  readonly recorder: Recorder;
}
