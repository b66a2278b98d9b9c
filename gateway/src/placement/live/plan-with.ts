import type { Catalog } from "../../catalog/types.ts";
import type { BinsView, FarmBins } from "./farm-bins.ts";
import { farmBins } from "./farm-bins.ts";
import { type Foresight, modelViews } from "./model-views.ts";
import type { Observations } from "./observations.ts";
import type { ModelView, Pool, PoolAction, PoolsDecision, PoolsInput } from "../pools/types.ts";
import { LIKE_OTHERS, workerSpeeds } from "./worker-speeds.ts";
import type { WantedCopies } from "../wanted-copies.ts";

/** The pools' planner, which remembers from one plan to the next. */
export interface Planner {
  plan(input: PoolsInput): PoolsDecision;
  poolOf(key: string): Pool;
}

export interface PlanView extends Pick<BinsView, "catalog" | "orders" | "unloading" | "now"> {
  wanted: readonly WantedCopies[];
  /** Replicas that are being moved to -> the ones that they replace, by id. */
  replacing: ReadonlyMap<string, string>;
  /** Models of which the Oracle is plainly wrong: what they have is not touched. */
  wrong: ReadonlySet<string>;
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
export function planWith(planner: Planner, view: PlanView, seen: Observations, foresight: Foresight): MadePlan {
  const inUse = seen.inUse(view.now);
  const needed = new Set([...inUse, ...view.wanted.map(({ key }) => key)]);
  const speeds = workerSpeeds(view.catalog, seen, inUse);
  const bins = farmBins({
    ...view,
    speed: (worker) => speeds.get(worker) ?? LIKE_OTHERS,
    poolOf: (key) => planner.poolOf(key),
    isNeeded: (key) => needed.has(key),
  });
  const replicas = bins.replicas.map((replica) => {
    const replaces = view.replacing.get(replica.id);
    return replaces === undefined ? replica : { ...replica, replaces };
  });
  const models = modelViews(view, bins, seen, foresight, view.wrong);
  const { actions, reasons } = planner.plan({ now: view.now, bins: bins.bins, replicas, models });
  return {
    at: view.now,
    bins,
    models,
    actions,
    reasons: [...reasons, ...leftOut(view.catalog, bins, models, foresight)],
  };
}

/** Workers that would get no copy of a model in use, and why. */
function leftOut(
  catalog: Catalog,
  { bins, replicas }: FarmBins,
  models: readonly ModelView[],
  foresight: Foresight,
): string[] {
  return models.flatMap(({ id }) =>
    bins.flatMap(({ id: worker }) => {
      const lists = catalog.workers.some(({ config, byKey }) => config.name === worker && byKey.has(id));
      const isThere = replicas.some((replica) => replica.worker === worker && replica.model === id);
      const why = lists && !isThere ? foresight.whyNoHelp(worker, id) : null;
      return why === null ? [] : `no copy of ${id} for ${worker}: it ${why}`;
    }),
  );
}
