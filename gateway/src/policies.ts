// The gateway's policies, for who runs them in virtual time: nothing here opens a socket, and time is an argument or a
// clock that its user gives.
export * from "./placement/oracle/capacity-oracle.ts";
export * from "./placement/oracle/codec.ts";
export type { Fitness } from "./placement/oracle/drift.ts";
export * from "./placement/oracle/elasticity-oracle.ts";
export * from "./placement/oracle/gaussian-process.ts";
export type * from "./placement/oracle/model-facts.ts";
export type * from "./placement/oracle/options.ts";
export * from "./placement/oracle/safe-side.ts";
export type * from "./placement/oracle/types.ts";
export type * from "./placement/pools/types.ts";
export { planElastic, planPools, planStable } from "./placement/pools/plan-pools.ts";
export {
  DEFAULT_POOL_RULES,
  NO_POOLS,
  type OscillationRules,
  type PoolRules,
  type PotentialWeights,
  type PromotionRule,
} from "./placement/pools/rules.ts";
export { smallestThat } from "./placement/pools/replica-count.ts";
export { type Claim, type Shares, shareOut } from "./placement/pools/share-out.ts";
export { PlacementController, type PlacementDesk } from "./placement/live/controller.ts";
export type { EndedCall } from "./placement/live/request-figures.ts";
export type { OrderedPair } from "./placement/order-desk.ts";
export { askedMs } from "./scheduling/asked-deadline.ts";
export { DeadlineQueue, type QueuedRequest } from "./scheduling/deadline-queue.ts";
export { PairRates } from "./scheduling/pair-rates.ts";
export { pairsNow, type SentCall } from "./scheduling/pairs-now.ts";
export { canBeginNow, type Waiting } from "./scheduling/queue-round.ts";
export { expectedShare, type ObservedShare } from "./placement/live/observed-share.ts";
export { type Hopeless, LstImh, earliestFinish, hopelessOf } from "./scheduling/lst-imh.ts";
export { byDeadline, type Job, type Machine, MooreHodgson, timeAt } from "./scheduling/moore-hodgson.ts";
export { type PrefillModel, learnPrefill, prefillMs, UNSEEN_PREFILL } from "./scheduling/predicted-prefill.ts";
export { tokensOf } from "./tokens-of-bytes.ts";
export {
  type Deadline,
  deadlineAt,
  type Missed,
  type MissFigures,
  missError,
  onMiss,
} from "./scheduling/relaxed-deadline.ts";
export { groupOf } from "./admission/waiting-group.ts";
export { WaitingRoom } from "./admission/waiting-room.ts";
export { emptyCatalog, reduce } from "./catalog/reduce.ts";
export type { TrackedCatalog } from "./catalog/tracked.ts";
export type { WorkerConfig } from "./catalog/types.ts";
export { decideLoads, type PlacementView } from "./placement/decide-loads.ts";
export { LastCopies } from "./placement/last-copies.ts";
export { forgotten, NO_ORDERS, observed, type OrderBook, ordered, orderFailed } from "./placement/orders.ts";
export { RecentUse } from "./placement/recent-use.ts";
export { meantCopies, type WantedCopies, wantedCopies } from "./placement/wanted-copies.ts";
export { hasFreeSlot } from "./routing/capacity.ts";
export { choose } from "./routing/choose.ts";
export { Learned } from "./routing/learned.ts";
export { fallbacksOf, nameRules, type ResolvedName, resolveName } from "./routing/resolve-name.ts";
export { Turns } from "./routing/turns.ts";
export type { Choice, RoutingContext, RoutingRequest } from "./routing/types.ts";
export { Inflight } from "./state/inflight.ts";
