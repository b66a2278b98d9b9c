import { decideMembership, singlesSince } from "./between-pools.ts";
import { type BinSpace, CLOSED } from "./bin-space.ts";
import { departuresOf } from "./departures.ts";
import { countReplicas, elasticBins } from "./elastic-counts.ts";
import { placeLines } from "./elastic-places.ts";
import { type Fleet, fleetOf } from "./fleet.ts";
import type { Layout } from "./layout.ts";
import { linesOf, type UsedModel, usesOf } from "./model-use.ts";
import type { PoolRules } from "./rules.ts";
import { planStablePool } from "./stable.ts";
import type { Pool, PoolsDecision, PoolsInput, PoolsState } from "./types.ts";

/**
 * What is to be done so that each model in use is served well by as few bins as will do:
 *
 * 1. Each model's pool (`decideMembership`), and what has no business any more (`departuresOf`).
 * 2. The stable pool takes its bins (`planStablePool`).
 * 3. The elastic pool has the rest: how many replicas (`countReplicas`), and where (`placeLines`).
 * 4. A model that the elastic pool has no bins for, or beside which a stable one needs room, is demoted, and all is
 *    planned again. By the rule `always` it has nowhere to go, and waits.
 *
 * To be called often, with the state that the last call returned; every call says what is missing now, so that an action
 * that was not carried out comes again. What has been begun must be shown in the next input: as `starting`, `draining`.
 */
export function planPools(input: PoolsInput, state: PoolsState, rules: PoolRules): PoolsDecision {
  const { used, idleSince } = usesOf(input.models, state, rules, input.now);
  const first = fleetOf(input, state.pools);
  const outside = splitOf(first.layout, rules);
  // 1
  const elasticSpace = masked(first.space, outside?.elastic);
  const membership = decideMembership(first, elasticSpace, used, input, state, rules);
  let { pools } = membership;
  let fleet = isSamePools(pools, state.pools) ? first : fleetOf(input, pools);
  const reasons: string[] = [...membership.reasons];
  for (;;) {
    const attempt = planOnce(fleet, input.now, { ...state, pools, idleSince }, used, outside, rules);
    const demoted = rules.promotion.by === "always" ? [] : attempt.demoted;
    // 4
    if (demoted.length === 0) {
      const { decision } = attempt;
      return { ...decision, reasons: [...reasons, ...decision.reasons] };
    }
    pools = new Map([...pools, ...demoted.map((id) => [id, { pool: "stable", since: input.now }] as const)]);
    for (const id of demoted) reasons.push(`${id} goes to the stable pool: bins are too few`);
    fleet = fleetOf(input, pools);
  }
}

/** The stable pool alone: all models share. */
export function planStable(input: PoolsInput, state: PoolsState, rules: PoolRules): PoolsDecision {
  return planPools(input, state, { ...rules, coordination: "global", promotion: { by: "never" } });
}

/** The elastic pool alone: each model has bins of its own, as long as there are enough. */
export function planElastic(input: PoolsInput, state: PoolsState, rules: PoolRules): PoolsDecision {
  return planPools(input, state, { ...rules, coordination: "global", promotion: { by: "always" } });
}

function planOnce(
  fleet: Fleet,
  now: number,
  state: PoolsState,
  used: readonly UsedModel[],
  outside: Split | null,
  rules: PoolRules,
): { decision: PoolsDecision; demoted: readonly string[] } {
  const departures = departuresOf(fleet, used, state.pools);
  // 2
  const isDue = state.repackedAt === null || now - state.repackedAt >= rules.repackEveryMs;
  const stable = planStablePool(
    fleet,
    masked(fleet.space, outside?.stable),
    inPool(used, state, "stable"),
    departures,
    { mayClaim: outside === null, isDue },
    rules,
  );
  // 3
  const elastic = inPool(used, state, "elastic").filter(({ use }) => use !== "idle");
  const models = elastic.map(({ view }) => view);
  const space = masked(fleet.space, outside?.elastic);
  const taken = new Set([...stable.claimed, ...targetsOf(stable.actions, fleet)]);
  const ids = new Set(models.flatMap((model) => linesOf(model).map(({ id }) => id)));
  const usable = elasticBins(fleet, space, ids, taken);
  const counted = countReplicas(fleet, models, usable, state, now, rules);
  const served = models.filter(({ id }) => !counted.dropped.includes(id));
  const places = placeLines(fleet, space, models.flatMap(linesOf), counted.counts, usable, rules);
  const next: PoolsState = {
    ...state,
    plans: counted.plans,
    growth: counted.growth,
    surplus: counted.surplus,
    singleSince: singlesSince(served, counted.counts, state.singleSince, now),
    repackedAt: stable.isSeenThrough ? now : state.repackedAt,
  };
  const actions = [...departures.actions, ...stable.actions, ...places.actions];
  const reasons = [...stable.reasons, ...counted.reasons, ...places.reasons];
  return { decision: { state: next, actions, reasons }, demoted: [...stable.demoted, ...counted.dropped] };
}

/** Bins of which a stable action makes use. */
function targetsOf(actions: PoolsDecision["actions"], { layout }: Fleet): readonly number[] {
  const ids = actions.flatMap((action) =>
    action.kind === "activate" ? action.bins : action.kind === "move" ? action.to : [],
  );
  return ids.flatMap((id) => layout.places.get(id) ?? []);
}

function isSamePools(a: PoolsState["pools"], b: PoolsState["pools"]): boolean {
  for (const [id, { pool }] of a) if (b.get(id)?.pool !== pool) return false;
  return true;
}

function inPool(used: readonly UsedModel[], { pools }: PoolsState, pool: Pool): readonly UsedModel[] {
  return used.filter(({ view }) => (pools.get(view.id)?.pool ?? "stable") === pool);
}

/** Bins that are out of bounds for each pool. */
type Split = Record<Pool, readonly number[]>;

/** Whole hosts for the stable pool until it has its share. */
function splitOf({ hosts }: Layout, { coordination, stableShare }: PoolRules): Split | null {
  if (coordination === "global") return null;
  const aim = stableShare * hosts.length;
  let border = 0;
  while (border < aim && border < hosts.length) {
    const host = hosts[border];
    while (border < hosts.length && hosts[border] === host) border += 1;
  }
  const all = [...hosts.keys()];
  return { stable: all.slice(border), elastic: all.slice(0, border) };
}

function masked(space: BinSpace, outside: readonly number[] | undefined): BinSpace {
  if (outside === undefined) return space;
  const inside = space.copy();
  for (const bin of outside) inside.use[bin] = CLOSED;
  return inside;
}
