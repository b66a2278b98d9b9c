import type { SchedulerRules } from "./types.ts";

/** The time in which a model is loaded and admitted. Times in milliseconds on the scheduler's clock. */
export interface Turn {
  readonly readyAt: number;
  /** How long its load took; 0 when it was found loaded. */
  readonly loadMs: number;
  /** It has answered since its load, or was found loaded. */
  proved: boolean;
  /** Grants that pay for the load. */
  readonly quota: number;
  granted: number;
  /** Grants while a model waited that is not loaded. */
  grantedBesides: number;
  /** Since when nothing is left for it while others wait; null: not so. */
  idleSince: number | null;
}

export type TurnRules = Pick<SchedulerRules, "maxBatch" | "maxWait" | "minResident" | "gather">;

/** Rule R3: the quota is what waited for the model when it became ready. `loadMs` null: it was found loaded. */
export function beginTurn(waiting: number, loadMs: number | null, rules: TurnRules, now: number): Turn {
  const quota = Math.min(Math.max(waiting, 1), rules.maxBatch);
  const load = { loadMs: loadMs ?? 0, proved: loadMs === null };
  return { readyAt: now, ...load, quota, granted: 0, grantedBesides: 0, idleSince: null };
}

export function countGrant(turn: Turn, othersWait: boolean): void {
  turn.granted += 1;
  if (othersWait) turn.grantedBesides += 1;
}

/**
 * Rule R3, a turn earns its load. It may close:
 *
 * 1. never before `minResident`;
 * 2. after `quota` grants;
 * 3. after max(`maxWait`, its load time) with at least one grant.
 *
 * Once it may close, it may for the rest of the turn. Given is the time from which it may, as things stand; infinite:
 * not before another grant.
 */
export function mayCloseAt(turn: Turn, rules: TurnRules): number {
  const resident = turn.readyAt + rules.minResident; // (1)
  if (turn.granted >= turn.quota) return resident; // (2)
  if (turn.granted === 0) return Number.POSITIVE_INFINITY;
  return Math.max(resident, turn.readyAt + Math.max(rules.maxWait, turn.loadMs)); // (3)
}

/**
 * Rule R5: how long a model with nothing left is kept, although others wait: `minResident`, and `gather` for the rest
 * of a burst, which comes within milliseconds and would cost a second swap.
 */
export function keepUntil(turn: Turn, idleSince: number, rules: TurnRules): number {
  return Math.max(turn.readyAt + rules.minResident, idleSince + (rules.gather ?? 0));
}

/** Rule R2: every model that waits is due against a turn that has had `maxBatch` grants while one waited. */
export function hadBatch(turn: Turn, rules: TurnRules): boolean {
  return turn.grantedBesides >= rules.maxBatch;
}
