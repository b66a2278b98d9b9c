import type { WorkerEntry } from "../catalog/types.ts";

/** `/farm/workers[].state` of the contract. */
export type WorkerState = "healthy" | "degraded" | "unhealthy" | "misconfigured" | "draining" | "unknown";

/** The worst that is true of a worker; what takes it out of routing comes first. */
export function workerState(worker: WorkerEntry): WorkerState {
  if (worker.health !== "healthy") return worker.health;
  if (worker.draining) return "draining";
  return worker.catalog === "unreachable" ? "degraded" : "healthy";
}
