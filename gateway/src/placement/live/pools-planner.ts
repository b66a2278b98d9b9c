import { planPools } from "../pools/plan-pools.ts";
import { DEFAULT_POOL_RULES, NO_POOLS, type PoolRules } from "../pools/rules.ts";
import type { PoolsState } from "../pools/types.ts";
import type { Planner } from "./plan-with.ts";
import type { PlacementSettings } from "./settings.ts";

/**
 * Where the target is out of reach a further copy has to gain as much of the share on time: less is within what the Oracle
 * is wrong by, and a load costs some requests of others their time.
 */
const LEAST_GAIN = 0.05;

/** The two pools as a farm has them: one bin is a worker, and one that is free is enough to grow into. */
export function poolsPlanner(settings: PlacementSettings): Planner {
  const rules = rulesOf(settings);
  let state: PoolsState = NO_POOLS;
  return {
    plan(input) {
      const decision = planPools(input, state, rules);
      state = decision.state;
      return decision;
    },
    poolOf: (key) => state.pools.get(key)?.pool ?? "stable",
  };
}

function rulesOf({ share, caution, hot, hold, stableEvery, window }: PlacementSettings): PoolRules {
  return {
    ...DEFAULT_POOL_RULES,
    promotion: { by: "share", share: hot },
    freeBins: 1,
    holdMs: hold,
    demoteAfterMs: hold,
    idleMs: hold,
    repackEveryMs: stableEvery,
    target: share,
    sigmas: caution,
    slack: LEAST_GAIN,
    oscillation: { ...DEFAULT_POOL_RULES.oscillation, windowMs: window / 3 },
  };
}
