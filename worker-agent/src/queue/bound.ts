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
 * The longest wait until a job is granted, in milliseconds, by rules R1 to R7:
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
 * A load of another model that fails is a turn without answers (T up to its time-out), so that it changes nothing. A
 * batch job may be overtaken for `maxWait` first. Engines that die, and jobs that leave in the midst of a turn, are
 * outside it.
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
