import { FarmError, formatDuration } from "@farmgate/shared";

export function queueFull(retryAfterS: number): FarmError {
  return new FarmError("queue_full", "Too many requests wait already.", { retryAfterS });
}

export function queueTimeout(model: string, waitedMs: number): FarmError {
  const waited = formatDuration(waitedMs);
  return new FarmError("timeout_queue", `No worker for "${model}" had room within ${waited}.`);
}

/** The time that the caller gave for the first byte is over. */
export function deadlineError(): FarmError {
  return new FarmError("deadline", "The request's deadline passed before an answer began.");
}
