import type { PoolsState } from "./types.ts";

/** When a model goes from the stable pool to the elastic one. */
export type PromotionRule =
  /** Tokens a second above which a device of a farm of equals is best used by one model alone. */
  | { by: "heat"; tokensPerSecond: number }
  /**
   * Its share of the compute or the bandwidth of the best bins that it may use. The better one where bins differ, and
   * where a token of one model costs many times that of another.
   */
  | { by: "share"; share: number }
  /** Every model is stable, or every model is elastic: one pool by itself. */
  | { by: "never" }
  | { by: "always" };

/** Times in milliseconds. */
export interface PoolRules {
  /**
   * `global`: the stable pool takes its bins first, from the elastic one if need be; the elastic pool has the rest, and
   * starts replicas on bins that others are leaving. `split`: the first hosts are the stable pool's, up to `stableShare`
   * of all bins, the others the elastic one's, and each plans as if it were alone.
   */
  coordination: "global" | "split";
  stableShare: number;
  promotion: PromotionRule;
  /** Bins that must be free for a promotion; more where its first replicas take more. */
  freeBins: number;
  /** A model stays as long in a pool before it changes it. */
  holdMs: number;
  /** One elastic replica must have been enough for as long before a demotion. */
  demoteAfterMs: number;
  /** A replica of a model without load goes after so long, and after `idleReloads` times its reload time. */
  idleMs: number;
  idleReloads: number;
  repackEveryMs: number;
  /** A bin that loses a replica is repacked when the least of its three loads is below this share of the greatest. */
  fragmentation: number;
  potential: PotentialWeights;
  /** Share on time that the elastic pool aims at, by mean - `sigmas` standard deviations. */
  target: number;
  sigmas: number;
  /** Where the target is out of reach: the fewest replicas that come so near to the best share that any number reaches. */
  slack: number;
  /**
   * Within as long a line at most doubles its replicas and adds one: what more of them bring is seen only once they serve,
   * and until then the Oracle can but guess far from all that it has seen.
   */
  growthMs: number;
  /** Fewer replicas must have been enough for as long before a line gives any up; then it keeps the most of that time. */
  shrinkMs: number;
  /** Where all counts together would take a greater share of the elastic pool's bins, what is surplus goes at once. */
  surplusUpTo: number;
  /** By what bins are shared out when there are too few: what each line wants, or how many tokens it handles. */
  shareBy: "wanted" | "heat";
  oscillation: OscillationRules;
  /** Share of a bin's memory that stays free where a replica starts beside one that leaves. */
  besideSpare: number;
}

/** See `potentialOf`. */
export interface PotentialWeights {
  usedBin: number;
  moved: number;
  overload: number;
}

/** See `judgePlan`. */
export interface OscillationRules {
  windowMs: number;
  /** Relative changes of heat: above the one is a jump, up to the other is noise. */
  heatJump: number;
  heatNoise: number;
  countJump: number;
  countNoise: number;
  /** Heats below it count as this much (tokens a second), so that a few requests more of a cold model are no jump. */
  heatFloor: number;
}

/** Those of the published system, where it has them. */
export const DEFAULT_POOL_RULES: PoolRules = {
  coordination: "global",
  stableShare: 0.5,
  promotion: { by: "heat", tokensPerSecond: 3_000 },
  freeBins: 2,
  holdMs: 30_000,
  demoteAfterMs: 30_000,
  idleMs: 50_000,
  idleReloads: 2,
  repackEveryMs: 30_000,
  fragmentation: 0.5,
  potential: { usedBin: 1, moved: 0.5, overload: 10 },
  target: 0.95,
  sigmas: 1,
  slack: 0.01,
  growthMs: 5_000,
  shrinkMs: 15_000,
  surplusUpTo: 0.8,
  shareBy: "wanted",
  oscillation: {
    windowMs: 5_000,
    heatJump: 0.5,
    heatNoise: 0.2,
    countJump: 3,
    countNoise: 1,
    heatFloor: 100,
  },
  besideSpare: 0.1,
};

/** Nothing is remembered. */
export const NO_POOLS: PoolsState = {
  pools: new Map(),
  plans: [],
  growth: new Map(),
  surplus: new Map(),
  idleSince: new Map(),
  singleSince: new Map(),
  repackedAt: null,
};
