import { type BinSpace, FREE, LEAVING, WHOLE } from "./bin-space.ts";
import { type Fleet, itemOf } from "./fleet.ts";
import { judgePlan } from "./judge-plan.ts";
import { linesOf } from "./model-use.ts";
import { mayUse } from "./packing.ts";
import { smallestCount } from "./replica-count.ts";
import type { PoolRules } from "./rules.ts";
import { type Claim, shareOut } from "./share-out.ts";
import type { ElasticPlan, Growth, ModelView, PoolsState, Surplus } from "./types.ts";

export interface ElasticCounts {
  /** Replicas by line. */
  counts: ReadonlyMap<string, number>;
  plans: readonly ElasticPlan[];
  growth: ReadonlyMap<string, Growth>;
  surplus: ReadonlyMap<string, Surplus>;
  /** Models for which there are too few bins, the coldest. */
  dropped: readonly string[];
  reasons: readonly string[];
}

/** The bins that the elastic pool can count on: per bin 1 or 0. Others than the lines of the pool use none of them. */
export function elasticBins(
  fleet: Fleet,
  space: BinSpace,
  lines: ReadonlySet<string>,
  claimed: ReadonlySet<number>,
): Uint8Array {
  const usable = new Uint8Array(space.use.length);
  for (let bin = 0; bin < usable.length; bin += 1) {
    const use = space.use[bin];
    usable[bin] = use === FREE || use === LEAVING || use === WHOLE ? 1 : 0;
  }
  for (const { line, replica, bins } of fleet.placed) {
    if (replica.state !== "draining" && !lines.has(line.id)) for (const bin of bins) usable[bin] = 0;
  }
  for (const bin of claimed) usable[bin] = 0;
  return usable;
}

/**
 * How many replicas each line of the elastic pool gets of the bins: the smallest count that is on time, or its share where
 * bins are too few (see `smallestCount`, `shareOut`); and whether that takes the place of the last plan (`judgePlan`).
 */
export function countReplicas(
  fleet: Fleet,
  models: readonly ModelView[],
  usable: Uint8Array,
  { plans, growth: earlier, surplus: before }: Pick<PoolsState, "plans" | "growth" | "surplus">,
  now: number,
  rules: PoolRules,
): ElasticCounts {
  const budget = usable.reduce((sum, bin) => sum + bin, 0);
  const [last] = plans;
  const growth = new Map([...earlier].filter(([, { since }]) => now - since < rules.growthMs));
  const surplus = new Map<string, Surplus>();
  const groups = groupsByLine(fleet, models.flatMap(linesOf), usable);
  const shrunk = (id: string, smallest: number, had: number) => {
    const { since, most } = before.get(id) ?? { since: now, most: smallest };
    const next = { since, most: Math.max(most, smallest) };
    surplus.set(id, next);
    return now - since >= rules.shrinkMs ? Math.min(had, next.most) : had;
  };
  const placeable = models.filter((model) => linesOf(model).every((line) => groups.get(line) !== 0));
  const claims = placeable.flatMap((model) =>
    linesOf(model).map((line): Claim => {
      const most = groups.get(line) ?? 1;
      const had = last?.counts.get(line.id);
      const grown = had === undefined ? most : 2 * (growth.get(line.id)?.from ?? had) + 1;
      const limit = Math.min(most, grown, line.enough ?? most);
      const wanted = smallestCount(line, limit, had ?? 1, rules);
      const weight = rules.shareBy === "heat" ? line.heat : wanted * line.span;
      return { id: line.id, model: model.id, span: line.span, wanted, heat: line.heat, weight };
    }),
  );
  const held = claims.map((claim) => {
    const had = last?.counts.get(claim.id) ?? 0;
    return claim.wanted >= had ? claim : { ...claim, wanted: shrunk(claim.id, claim.wanted, had) };
  });
  const heldBins = held.reduce((sum, { wanted, span }) => sum + wanted * span, 0);
  const { counts, dropped: tooMany } = shareOut(heldBins <= rules.surplusUpTo * budget ? held : claims, budget);
  const nowhere = models.filter((model) => !placeable.includes(model)).map(({ id }) => id);
  const dropped = [...nowhere, ...tooMany];
  const heats = new Map(claims.filter(({ id }) => counts.has(id)).map(({ id, heat }) => [id, heat]));
  const next: ElasticPlan = { at: now, counts, heats };
  const reasons = [
    ...nowhere.map((id) => `none of the elastic pool's ${budget} bins can hold ${id}`),
    ...tooMany.map((id) => `${id} does not fit into the elastic pool's ${budget} bins: it is the coldest`),
  ];
  if (last !== undefined && isSame(counts, last.counts)) return { counts, plans, growth, surplus, dropped, reasons };
  const spans = new Map(claims.map(({ id, span }) => [id, span]));
  const needed = [...(last?.counts ?? [])].reduce((sum, [id, count]) => sum + count * (spans.get(id) ?? 0), 0);
  const { accepted, reason } = judgePlan(next, plans, needed <= budget, rules.oscillation);
  if (!accepted && last !== undefined) {
    return {
      counts: last.counts,
      plans,
      growth,
      surplus,
      dropped,
      reasons: [...reasons, `the elastic pool stays as it is: ${reason}`],
    };
  }
  const kept = last === undefined ? [next] : [next, last];
  for (const [id, count] of counts) {
    const from = last?.counts.get(id);
    if (from !== undefined && count > from && !growth.has(id)) growth.set(id, { since: now, from });
  }
  return {
    counts,
    plans: kept,
    growth,
    surplus,
    dropped,
    reasons: [...reasons, `a new plan for the elastic pool: ${reason}`],
  };
}

/** For each line the groups that could hold a replica, each alone. */
function groupsByLine(fleet: Fleet, lines: readonly ModelView[], usable: Uint8Array): ReadonlyMap<ModelView, number> {
  const bySpan = new Map<number, readonly UsableGroup[]>();
  const counts = new Map<ModelView, number>();
  for (const line of lines) {
    const item = itemOf(fleet, line);
    const groups = bySpan.get(line.span) ?? usableGroups(fleet, line.span, usable);
    bySpan.set(line.span, groups);
    const memory = line.demand.memory / line.span;
    let count = 0;
    for (const group of groups) if (memory <= group.memory && mayUse(item, group.first)) count += 1;
    counts.set(line, count);
  }
  return counts;
}

interface UsableGroup {
  first: number;
  /** Of its smallest bin. */
  memory: number;
}

function usableGroups({ layout }: Fleet, span: number, usable: Uint8Array): readonly UsableGroup[] {
  const groups: UsableGroup[] = [];
  for (const first of layout.groups(span)) {
    let memory = Number.POSITIVE_INFINITY;
    for (let bin = first; bin < first + span; bin += 1) {
      memory = usable[bin] === 1 ? Math.min(memory, layout.capacity[3 * bin] ?? 0) : -1;
      if (memory < 0) break;
    }
    if (memory >= 0) groups.push({ first, memory });
  }
  return groups;
}

function isSame(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): boolean {
  if (a.size !== b.size) return false;
  for (const [id, count] of a) if (b.get(id) !== count) return false;
  return true;
}
