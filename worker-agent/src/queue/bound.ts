import type { SchedulerRules } from "./types.ts";

export interface BoundCase {
  /** Milliseconds: the longest load of any model, at most the swap time-out. */
  longestLoad: number;
  /** Milliseconds: the longest answer. */
  longestAnswer: number;
  /** Models that must be swapped against each other. */
  models: number;
  /** The job's place in its model's queue, from 1; at most its place among its caller's jobs times the active callers. */
  place: number;
}

/**
 * The longest wait until a job is granted, in milliseconds, by rules R1 to R9:
 *
 *     W = max(maxWait, P) + v * k * (T + R)
 *     R = max(min(ceil(Q / S) * P, U + P), minResident + P)      how long a turn lasts when another model is due
 *     U = max(maxWait, T, minResident)
 *     v = ceil(p / max(1, min(Q, S * ceil(maxWait / P))))        turns until place p is reached
 *
 * with k models, T the longest load, P the longest answer, Q `maxBatch`, S the fewest slots of a model, and
 * `gather` added to each turn.
 * The first term is P where that is longer than `maxWait`: a job that comes while all slots of its loaded model are busy
 * may see the turn close up to P later, before any slot was free, and the close itself takes up to P more.
 *
 * Why it holds, in short, for one model at a time (R1 to R5): once the job's model x has waited `maxWait` it is due and
 * stays so. Then a turn that may close does (R3: at the latest `U` after its load, with at least one grant, since a
 * model that is ready with jobs is granted at once), its last answer takes up to P more, and the due model with the
 * smallest `since` is loaded in up to T. Whoever has had a turn meanwhile has a `since` after x's, so that each other
 * model comes at most once before x: k times (T + R), for each of the v turns that x needs.
 *
 * R6: a load that fails is a turn without answers, of up to T (its time-out); it ends with a new `since`, so that it is
 * no more often before x than one that succeeds. Jobs that wait for the failed model itself are answered by it.
 * R7: a job's place counts callers in turn, so that nobody's burst moves it back; a batch job may be overtaken by
 * interactive ones for `maxWait`, from when on it is one of them, at the end of its caller's jobs: `maxWait` is to be
 * added for it.
 * R8: with models that fit together, k still counts those that must be swapped against each other, and T includes the
 * unloading of the victims. While a due model waits no other is let in, also none that would fit, and nothing is loaded
 * unasked or unloaded for its `ttl`; so the loaded ones only become fewer, and `U + P` after the last load each of them
 * may close or is idle. Then there is a sufficient set, all its gates are shut together, and one P later the load
 * begins: R for each admission is what it is for one model at a time. An operation that was under way when x became due
 * is the load of one of the k, and counts as its one. Pinned models take no part: their jobs wait for slots alone.
 * R9: room in the queue decides who is refused, not who waits how long.
 *
 * Outside it are engines that die or load models by their own will, jobs that leave in the midst of a turn, lists that
 * change, and operators' orders.
 */
export function waitBound(rules: SchedulerRules, at: BoundCase): number {
  const { maxWait, maxBatch, minResident } = rules;
  const { longestLoad, longestAnswer, models, place } = at;
  const slots = Math.max(1, Math.min(...rules.models.map((model) => model.slots)));
  const answer = Math.max(1, longestAnswer);
  const patience = Math.max(maxWait, longestLoad, minResident);
  const turn = Math.max(Math.min(Math.ceil(maxBatch / slots) * answer, patience + answer), minResident + answer);
  const perTurn = Math.max(1, Math.min(maxBatch, slots * Math.ceil(maxWait / answer)));
  return Math.max(maxWait, answer) + Math.ceil(place / perTurn) * models * (longestLoad + turn + (rules.gather ?? 0));
}
