import type { SchedulerRules } from "./types.ts";

/** The time in which one model is loaded and admitted. Times in milliseconds on the scheduler's clock. */
export interface Turn {
  readonly model: string;
  readonly readyAt: number;
  /** How long its load took; 0 when it was found loaded. */
  readonly loadMs: number;
  /** It has answered since its load, or was found loaded. */
  proved: boolean;
  /** Grants that pay for the load. */
  readonly quota: number;
  granted: number;
  /** Grants while another model waited. */
  grantedBesides: number;
  /** Since when nothing is left for it while others wait; null: not so. */
  idleSince: number | null;
}

export type TurnRules = Pick<SchedulerRules, "maxBatch" | "maxWait" | "minResident" | "gather">;

/** Rule R3: the quota is what waited for the model when it became ready. `loadMs` null: it was found loaded. */
export function beginTurn(model: string, waiting: number, loadMs: number | null, rules: TurnRules, now: number): Turn {
  const quota = Math.min(Math.max(waiting, 1), rules.maxBatch);
  const load = { loadMs: loadMs ?? 0, proved: loadMs === null };
  return { model, readyAt: now, ...load, quota, granted: 0, grantedBesides: 0, idleSince: null };
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
 * Once it may close, it may for the rest of the turn.
 */
export function mayClose(turn: Turn, rules: TurnRules, now: number): boolean {
  if (now < residentUntil(turn, rules)) return false; // (1)
  if (turn.granted >= turn.quota) return true; // (2)
  return turn.granted >= 1 && now >= turn.readyAt + Math.max(rules.maxWait, turn.loadMs); // (3)
}

function residentUntil(turn: Turn, rules: TurnRules): number {
  return turn.readyAt + rules.minResident;
}

/**
 * Rule R5: how long a model with nothing left is kept, although others wait: `minResident`, and `gather` for the rest
 * of a burst, which comes within milliseconds and would cost a second swap.
 */
export function keepUntil(turn: Turn, rules: TurnRules, now: number): number {
  return Math.max(residentUntil(turn, rules), (turn.idleSince ?? now) + (rules.gather ?? 0));
}

/**
 * Rule R2: a waiting model is due when its wait has reached `maxWait`, or when the present turn has had `maxBatch`
 * grants while another model waited.
 */
export function isDue(waitingFrom: number, turn: Turn, rules: TurnRules, now: number): boolean {
  return now >= waitingFrom + rules.maxWait || turn.grantedBesides >= rules.maxBatch;
}
