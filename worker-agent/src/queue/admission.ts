import { cheapestSet } from "./evict.ts";
import { replaces, tooHeavy, weightOf } from "./fit.ts";
import { isIdle, type ModelState } from "./model-state.ts";
import { type Candidate, type Rooms, RoomTimes } from "./room-times.ts";

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
 * are not enough among all that may go. `wished`: nobody waits for it.
 */
export function chooseVictims(candidate: Candidate, wished: boolean, rooms: Rooms, now: number): ModelState[] {
  const { toFree, forced, able } = new RoomTimes(rooms, wished).demand(candidate, now);
  const cheapest = (from: readonly ModelState[]) => {
    const chosen = cheapestSet(
      from.map((resident) => evictable(resident, rooms, now)),
      toFree,
    );
    return chosen === null ? null : from.filter(({ name }) => chosen.some((victim) => victim.name === name));
  };
  return [...forced, ...(cheapest(able.filter(isIdle)) ?? cheapest(able) ?? [])];
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
