import { FarmError } from "@farmgate/shared";
import type { ExchangeFailure } from "@farmgate/wire";

/** True when the failure means that nothing serves at the engine's address. */
export function lostEngine(failure: ExchangeFailure): boolean {
  return failure.phase === "connect" && (failure.kind === "refused" || failure.kind === "unreachable");
}

/**
 * What follows a failure before any byte came, so that nothing is lost by asking again:
 * 1. Nothing listens: the model is not loaded, whatever was thought. The job waits again, once.
 * 2. A connection that had been used before broke: its idle end met the request. Once more on a new one.
 * 3. Else the caller is told.
 */
export function afterFailure(
  failure: ExchangeFailure,
  so: { requeued: boolean; retriedFresh: boolean },
): "wait_again" | "fresh" | "tell" {
  if (lostEngine(failure) && !so.requeued) return "wait_again"; // (1)
  if (failure.kind === "reset" && failure.reused && !so.retriedFresh) return "fresh"; // (2)
  return "tell"; // (3)
}

/** The time that the caller gave for the first byte is over. */
export function deadlineError(): FarmError {
  return new FarmError("deadline", "The request's deadline passed before its engine had answered.");
}

/** What a caller is told of a failed exchange with the model's engine. */
export function toFarmError(failure: ExchangeFailure, model: string): FarmError {
  const engine = `The engine of ${model}`;
  switch (failure.kind) {
    case "timeout":
      if (failure.phase === "connect") return new FarmError("timeout_connect", `${engine} accepts no connection.`);
      if (failure.phase === "first_byte")
        return new FarmError("timeout_first_byte", `${engine} did not answer in time.`);
      return new FarmError("timeout_idle", `${engine} stopped sending in the middle of its answer.`);
    case "refused":
    case "unreachable":
      return new FarmError("worker_failed", `${engine} cannot be reached (${failure.message}).`);
    case "protocol":
      return new FarmError("worker_failed", `${engine} did not answer in HTTP (${failure.message}).`);
    // An agent never gives an engine up.
    case "gone":
    case "cancelled":
      return new FarmError("cancelled", `The request to ${model} was cancelled.`);
    case "reset":
      return failure.phase === "body"
        ? new FarmError("worker_failed", `${engine} broke off in the middle of its answer (${failure.message}).`)
        : new FarmError("worker_failed", `${engine} broke the connection before it answered (${failure.message}).`);
  }
}
