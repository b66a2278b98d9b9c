import { type BinSpace, FREE } from "./bin-space.ts";
import { type Fleet, itemOf } from "./fleet.ts";
import { linesOf, type UsedModel } from "./model-use.ts";
import { bestFree } from "./packing.ts";
import type { PoolRules } from "./rules.ts";
import type { ModelView, Pool, PoolsInput, PoolsState } from "./types.ts";

export interface Membership {
  pools: PoolsState["pools"];
  reasons: readonly string[];
}

/**
 * In which pool each model is:
 *
 * 1. By the rules `never` and `always`: stable, elastic.
 * 2. One that is not known yet: where its replicas are, else stable, and promoted at once where it is hot.
 * 3. Elastic, and one replica of each of its lines has been enough for `demoteAfterMs`, it is not hot, and it has been
 *    there for `holdMs`: stable.
 * 4. Stable, hot, and has been there for `holdMs`, and as many bins are free as the first replicas take, `freeBins` at
 *    least, and a free group can hold each: elastic. The hottest first, as long as bins are free.
 */
export function decideMembership(
  fleet: Fleet,
  elasticSpace: BinSpace,
  used: readonly UsedModel[],
  { now, replicas }: Pick<PoolsInput, "now" | "replicas">,
  state: PoolsState,
  rules: PoolRules,
): Membership {
  const reasons: string[] = [];
  const pools = new Map<string, { pool: Pool; since: number }>();
  const { promotion } = rules;
  const promotable: ModelView[] = [];
  for (const { view, use } of used) {
    const known = state.pools.get(view.id);
    // 1
    if (promotion.by === "never" || promotion.by === "always") {
      const pool = promotion.by === "never" ? "stable" : "elastic";
      pools.set(view.id, known?.pool === pool ? known : { pool, since: now });
      continue;
    }
    // 2
    const there = known ?? { pool: poolOfReplicas(view, replicas), since: now };
    const isHeld = known !== undefined && now - known.since < rules.holdMs;
    const heat = hotness(fleet, view, rules);
    // 3
    const single = state.singleSince.get(view.id);
    const isQuiet = use === "idle" || (single !== undefined && now - single >= rules.demoteAfterMs && !isHeld);
    if (there.pool === "elastic" && isQuiet && heat === null) {
      pools.set(view.id, { pool: "stable", since: now });
      reasons.push(`${view.id} goes to the stable pool: one replica has been enough for a while`);
      continue;
    }
    pools.set(view.id, there);
    if (there.pool === "stable" && use === "active" && heat !== null && !isHeld) promotable.push(view);
  }
  // 4
  let free = elasticSpace.count(FREE);
  for (const view of promotable.sort((a, b) => b.heat - a.heat)) {
    const takes = linesOf(view).reduce((sum, { span }) => sum + span, 0);
    const why = hotness(fleet, view, rules) ?? "";
    const hasRoom = linesOf(view).every((line) => bestFree(elasticSpace, itemOf(fleet, line)) !== null);
    if (!hasRoom || free < Math.max(rules.freeBins, takes)) {
      reasons.push(
        `${view.id} stays in the stable pool, though ${why}: ${hasRoom ? `${free} bins are free` : "no free bins can hold it"}`,
      );
      continue;
    }
    free -= takes;
    pools.set(view.id, { pool: "elastic", since: now });
    reasons.push(`${view.id} goes to the elastic pool: ${why}`);
  }
  return { pools, reasons };
}

/** Since when one replica of each line has been enough, by the counts of the plan. */
export function singlesSince(
  models: readonly ModelView[],
  counts: ReadonlyMap<string, number>,
  before: PoolsState["singleSince"],
  now: number,
): PoolsState["singleSince"] {
  const since = new Map<string, number>();
  for (const view of models) {
    if (linesOf(view).every(({ id }) => (counts.get(id) ?? 1) <= 1)) since.set(view.id, before.get(view.id) ?? now);
  }
  return since;
}

/** Why it is to be promoted; null: it is not. */
function hotness({ layout }: Fleet, view: ModelView, { promotion }: PoolRules): string | null {
  if (promotion.by === "heat") {
    return view.heat > promotion.tokensPerSecond ? `it handles ${Math.round(view.heat)} tokens a second` : null;
  }
  if (promotion.by !== "share") return null;
  let least = Number.POSITIVE_INFINITY;
  for (const first of layout.groups(view.span)) {
    if (view.allowed !== null && !view.allowed.has(layout.bins[first]?.id ?? "")) continue;
    const compute = view.demand.compute / view.span / (layout.capacity[3 * first + 1] ?? 0);
    const bandwidth = view.demand.bandwidth / view.span / (layout.capacity[3 * first + 2] ?? 0);
    least = Math.min(least, Math.max(compute, bandwidth));
  }
  const isHot = least > promotion.share && least < Number.POSITIVE_INFINITY;
  return isHot ? `it needs ${Math.round(100 * least)} % of the best bins that it may use` : null;
}

function poolOfReplicas(view: ModelView, replicas: PoolsInput["replicas"]): Pool {
  const ids = new Set(linesOf(view).map(({ id }) => id));
  const isElastic = replicas.some(({ model, pool }) => pool === "elastic" && ids.has(model));
  return isElastic ? "elastic" : "stable";
}
