import type { WorkerEntry } from "../catalog/types.ts";
import { type Breaker, breakerWords, trialWords } from "../routing/breaker.ts";

/** `/farm/workers[].state` of the contract. */
export type WorkerState = "healthy" | "degraded" | "unhealthy" | "misconfigured" | "draining" | "unknown";

/** The worst that is true of a worker; what takes it out of routing comes first. */
export function workerState(worker: WorkerEntry): WorkerState {
  if (worker.health !== "healthy") return worker.health;
  if (worker.draining) return "draining";
  return worker.catalog === "unreachable" || openBreakers(worker).length > 0 ? "degraded" : "healthy";
}

/**
 * Why the worker is not healthy; null: it is, or nobody knows. `shows`: whether who asks may know of a model. `now`: on
 * the clock of the breakers.
 */
export function workerProblem(worker: WorkerEntry, shows: (model: string) => boolean, now: number): string | null {
  const shown = openBreakers(worker).filter(({ model }) => shows(model));
  const open = shown.map(
    (breaker) => `breaker open for ${breaker.model}: ${breakerWords(breaker)}, ${trialWords(breaker, now)}`,
  );
  const problems = worker.problem === null ? open : [worker.problem, ...open];
  return problems.length === 0 ? null : problems.join("; ");
}

/** A pair that is not asked like any other now. */
export interface PairAside {
  reason: string;
  /** Until it may be asked again, in milliseconds; 0: the next request for it is its trial, or one is under way. */
  retry_in_ms: number;
}

/** Why and for how long the model of this key is put aside on the worker; null: it is not. */
export function pairAside({ breakers, asideUntil }: WorkerEntry, key: string, now: number): PairAside | null {
  const breaker = breakers.get(key);
  if (breaker !== undefined && breaker.openUntil !== null) {
    return { reason: breakerWords(breaker), retry_in_ms: Math.max(0, Math.round(breaker.openUntil - now)) };
  }
  const aside = asideUntil.get(key);
  if (aside === undefined || aside.until <= now) return null;
  const what = aside.apis === undefined ? "" : ` when asked for ${aside.apis.join(", ")}`;
  return { reason: `${aside.reason}${what}`, retry_in_ms: Math.round(aside.until - now) };
}

/** Open until a trial succeeds, also while one is due. */
function openBreakers({ breakers }: WorkerEntry): readonly Breaker[] {
  return breakers.size === 0 ? [] : [...breakers.values()].filter(({ openUntil }) => openUntil !== null);
}
