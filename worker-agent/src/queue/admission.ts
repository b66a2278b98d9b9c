import { cheapestSet } from "./evict.ts";
import { canGoFor, replaces, tooHeavy, weightOf } from "./fit.ts";
import { busyWith, isIdle, type ModelState } from "./model-state.ts";
import type { Policy } from "./policy.ts";
import { dueAt, keepUntil, mayCloseAt } from "./turn.ts";
import type { Costs, SchedulerRules } from "./types.ts";

/** A model that is to be loaded. */
export interface Candidate {
  readonly model: ModelState;
  /** From when its wait counts towards `maxWait`; null: it takes no victims. */
  readonly from: number | null;
  /** Nobody waits for it. */
  readonly wished: boolean;
}

/** What admissions are decided on. */
export interface Rooms {
  /** All that is in memory. */
  readonly present: Iterable<ModelState>;
  readonly policy: Policy;
  readonly rules: SchedulerRules;
  readonly costs: Costs;
}

/**
 * From when the candidate could be let in, as things stand (rule R8); infinite: not by the mere passing of time.
 *
 * 1. answers of its own lost engine, or of one that it replaces, have not ended: not before they have; or it would
 *    replace a pinned one: never;
 * 2. it fits as things are: at once;
 * 3. else when enough of those that may go for it may go.
 */
export function roomAt(candidate: Candidate, rooms: Rooms): number {
  if (busyWith(candidate.model) > 0) return Number.POSITIVE_INFINITY; // (1)
  const { toFree, forced, others, stuck } = demand(candidate, rooms);
  if (stuck) return Number.POSITIVE_INFINITY; // (1)
  const whenOf = (resident: ModelState) => mayGoAt(resident, candidate, rooms);
  let left = toFree;
  let at = forced.reduce((latest, resident) => Math.max(latest, whenOf(resident)), Number.NEGATIVE_INFINITY);
  if (left <= 0) return at; // (2)
  if (candidate.from === null) return Number.POSITIVE_INFINITY;
  for (const { when, weight } of byTime(others, whenOf, rooms)) {
    at = Math.max(at, when);
    left -= weight;
    if (left <= 0) return at; // (3)
  }
  return Number.POSITIVE_INFINITY;
}

/** Whether the candidate stays out for as long as those are loaded that cannot go for it. */
export function isBarred(candidate: Candidate, { present, rules }: Rooms): boolean {
  const staying = [...present].filter((other) => other.turn !== null && !canGoFor(other.rules, candidate.model.rules));
  return tooHeavy(candidate.model.rules, rulesOf(staying), rules.budget) > 0;
}

/** Whether the candidate fits once these are gone. */
export function fitsWithout(
  candidate: ModelState,
  victims: ReadonlySet<ModelState>,
  { present, rules }: Rooms,
): boolean {
  const staying = [...present].filter((other) => !victims.has(other));
  if (staying.some((other) => replaces(candidate.rules, other.rules))) return false;
  return tooHeavy(candidate.rules, rulesOf(staying), rules.budget) <= 0;
}

/**
 * The victims of a candidate that may be let in now: the cheapest sufficient ones among the idle, and only where those
 * are not enough among all that may go.
 */
export function chooseVictims(candidate: Candidate, rooms: Rooms, now: number): ModelState[] {
  const { toFree, forced, others } = demand(candidate, rooms);
  const able = others.filter((resident) => mayGoAt(resident, candidate, rooms) <= now);
  const cheapest = (from: readonly ModelState[]) => {
    const chosen = cheapestSet(
      from.map((resident) => evictable(resident, rooms, now)),
      toFree,
    );
    const names = new Set(chosen?.map(({ name }) => name));
    return chosen === null ? null : from.filter(({ name }) => names.has(name));
  };
  return [...forced, ...(cheapest(able.filter(isIdle)) ?? cheapest(able) ?? [])];
}

/** What must be freed for the candidate, whom it replaces in any case, and who else could go. */
function demand({ model }: Candidate, { present, rules }: Rooms) {
  const everyone = [...present];
  const residents = everyone.filter((other) => other.turn !== null && canGoFor(other.rules, model.rules));
  const forced = residents.filter((other) => replaces(model.rules, other.rules));
  const going = new Set(forced);
  const others = residents.filter((other) => !going.has(other));
  const staying = everyone.filter((other) => !going.has(other));
  const stuck = staying.some((other) => replaces(model.rules, other.rules));
  return { toFree: tooHeavy(model.rules, rulesOf(staying), rules.budget), forced, others, stuck };
}

/**
 * From when the resident may go for the candidate:
 *
 * 1. with nothing left (R5): when it need not be kept any longer;
 * 2. the candidate is due against its turn (R2), and the turn may close (R3, R4).
 *
 * In strict arrival order what waits for the resident comes after the candidate, and nobody is due.
 */
function mayGoAt(resident: ModelState, { from, wished }: Candidate, { policy, rules }: Rooms): number {
  const { turn } = resident;
  if (turn === null || from === null) return Number.POSITIVE_INFINITY;
  const nothingLeft = policy.strict && !wished ? busyWith(resident) === 0 : isIdle(resident);
  const idleSince = turn.idleSince ?? resident.quietSince;
  const kept = nothingLeft ? keepUntil(turn, idleSince, rules) : Number.POSITIVE_INFINITY; // (1)
  const closes = policy.due ? Math.max(dueAt(from, turn, rules), mayCloseAt(turn, rules)) : Number.POSITIVE_INFINITY; // (2)
  return Math.min(kept, closes);
}

function byTime(residents: readonly ModelState[], whenOf: (resident: ModelState) => number, { rules }: Rooms) {
  return residents
    .map((resident) => ({ when: whenOf(resident), weight: weightOf(resident.rules, rules.budget) }))
    .sort((a, b) => a.when - b.when);
}

function evictable({ name, rules, queue, quietSince, usedSeq, turn, running }: ModelState, rooms: Rooms, now: number) {
  return {
    name,
    weight: weightOf(rules, rooms.rules.budget),
    reloadMs: rooms.costs.reloadMs(name) ?? (turn !== null && turn.loadMs > 0 ? turn.loadMs : null),
    idleMs: running > 0 ? 0 : now - quietSince,
    waiting: queue.size,
    usedSeq,
  };
}

function rulesOf(models: readonly ModelState[]) {
  return models.map(({ rules }) => rules);
}
