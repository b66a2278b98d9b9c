import type { BinsView, FarmBins } from "./farm-bins.ts";
import { farmBins } from "./farm-bins.ts";
import type { FarmOracle } from "./farm-oracle.ts";
import { modelViews } from "./model-views.ts";
import type { Observations } from "./observations.ts";
import type { ModelView, Pool, PoolAction, PoolsDecision, PoolsInput } from "../pools/types.ts";
import { LIKE_OTHERS, workerSpeeds } from "./worker-speeds.ts";
import type { WantedCopies } from "../wanted-copies.ts";

/** The pools' planner, which remembers from one plan to the next. */
export interface Planner {
  plan(input: PoolsInput, stableDue: boolean): PoolsDecision;
  poolOf(key: string): Pool;
}

export interface PlanView extends Pick<BinsView, "catalog" | "orders" | "unloading" | "now"> {
  wanted: readonly WantedCopies[];
}

/** A plan and what it was made of. */
export interface MadePlan {
  at: number;
  bins: FarmBins;
  models: readonly ModelView[];
  actions: readonly PoolAction[];
  reasons: readonly string[];
}

/** Plans by what the farm is and how it is asked. Throws what the planner throws. */
export function planWith(
  planner: Planner,
  view: PlanView,
  seen: Observations,
  { oracle, caution }: { oracle: FarmOracle; caution: number },
  stableDue: boolean,
): MadePlan {
  const inUse = seen.inUse(view.now);
  const needed = new Set([...inUse, ...view.wanted.map(({ key }) => key)]);
  const speeds = workerSpeeds(view.catalog, seen, inUse);
  const bins = farmBins({
    ...view,
    speed: (worker) => speeds.get(worker) ?? LIKE_OTHERS,
    poolOf: (key) => planner.poolOf(key),
    isNeeded: (key) => needed.has(key),
  });
  const models = modelViews(view, bins, seen, { capacity: oracle.capacity, elasticity: oracle.elasticity, caution });
  const { actions, reasons } = planner.plan({ now: view.now, bins: bins.bins, replicas: bins.replicas, models }, stableDue);
  return { at: view.now, bins, models, actions, reasons };
}
