import type { WorkerEntry } from "../catalog/types.ts";
import { type Breaker, breakerWords } from "../routing/breaker.ts";

/** `/farm/workers[].state` of the contract. */
export type WorkerState = "healthy" | "degraded" | "unhealthy" | "misconfigured" | "draining" | "unknown";

/** The worst that is true of a worker; what takes it out of routing comes first. */
export function workerState(worker: WorkerEntry): WorkerState {
  if (worker.health !== "healthy") return worker.health;
  if (worker.draining) return "draining";
  return worker.catalog === "unreachable" || openBreakers(worker).length > 0 ? "degraded" : "healthy";
}

/** Why the worker is not healthy; null: it is, or nobody knows. `shows`: whether who asks may know of a model. */
export function workerProblem(worker: WorkerEntry, shows: (model: string) => boolean): string | null {
  const shown = openBreakers(worker).filter(({ model }) => shows(model));
  const open = shown.map((breaker) => `breaker open for ${breaker.model}: ${breakerWords(breaker)}`);
  const problems = worker.problem === null ? open : [worker.problem, ...open];
  return problems.length === 0 ? null : problems.join("; ");
}

/** Open until a trial succeeds, also while one is due. */
function openBreakers({ breakers }: WorkerEntry): readonly Breaker[] {
  return breakers.size === 0 ? [] : [...breakers.values()].filter(({ openUntil }) => openUntil !== null);
}
