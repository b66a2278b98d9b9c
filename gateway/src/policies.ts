// The gateway's deciders, for who runs them in virtual time: nothing here opens a socket or asks the clock.
export * from "./placement/oracle/capacity-oracle.ts";
export * from "./placement/oracle/codec.ts";
export type { Fitness } from "./placement/oracle/drift.ts";
export * from "./placement/oracle/elasticity-oracle.ts";
export type * from "./placement/oracle/model-facts.ts";
export type * from "./placement/oracle/options.ts";
export * from "./placement/oracle/safe-side.ts";
export type * from "./placement/oracle/types.ts";
export type * from "./placement/pools/types.ts";
export {
  cheapestWayUp,
  type Copy,
  type IdleRules,
  idleHold,
  type Link,
  type LinksTo,
  restingPlace,
  type Temperature,
  throughMs,
  type WayUp,
} from "./placement/pools/lifecycle.ts";
export { planElastic, planPools, planStable } from "./placement/pools/plan-pools.ts";
export {
  DEFAULT_POOL_RULES,
  NO_POOLS,
  type OscillationRules,
  type PoolRules,
  type PotentialWeights,
  type PromotionRule,
} from "./placement/pools/rules.ts";
