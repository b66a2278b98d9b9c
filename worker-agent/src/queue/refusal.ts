import { formatDuration, retryAfter } from "@farmgate/shared";
import type { ErrorCode } from "@farmgate/shared";
import type { ModelState } from "./model-state.ts";
import type { Job } from "./types.ts";

/** Why a job is answered with an error, and when it may be sent again. */
export interface Refusal {
  code: ErrorCode;
  message: string;
  /** Seconds; null where waiting is no help or nobody knows. */
  retryAfterS: number | null;
  /** Unset: as the code says. */
  retry?: false;
}

/** A failed load may be tried again, but not by every caller in the same instant. */
const SOONEST_S = 5;

const GOLDEN = 0.618_034;

/**
 * Whether a job is refused at the door:
 *
 * 1. its model is not served here;
 * 2. no new jobs are taken;
 * 3. its model can never be loaded beside the pinned ones;
 * 4. its model used up its failure budget (rule R6).
 *
 * null: it may wait. Whether the queue has room is seen only when it could not be granted at once.
 */
export function refusal(job: Job, model: ModelState | undefined, draining: boolean, now: number): Refusal | null {
  if (model === undefined) {
    return { code: "model_not_found", message: `no model named ${job.model} here`, retryAfterS: null }; // (1)
  }
  if (draining) {
    return { code: "draining", message: "this worker is draining and takes no new requests", retryAfterS: null }; // (2)
  }
  const never = model.turn === null ? model.neverFits : null;
  if (never !== null) return inVain(model.name, never); // (3)
  return failedTooOften(model, now); // (4)
}

/** null: the model's failure budget is not used up. */
export function failedTooOften({ name, failures }: ModelState, now: number): Refusal | null {
  const refusedFor = failures.refusedFor(now);
  if (refusedFor === 0) return null;
  const count = failures.count(now);
  const message = `${name} failed to load ${count} times in a row; it is tried again in ${formatDuration(refusedFor)}`;
  return { code: "load_failed", message, retryAfterS: Math.ceil(refusedFor / 1_000) };
}

/** For a model that cannot be loaded as the rules are; asking again is no help. */
export function inVain(model: string, reason: string): Refusal {
  return { code: "load_failed", message: `${model} cannot be loaded: ${reason}`, retryAfterS: null, retry: false };
}

export function noLongerServed(model: string): Refusal {
  return { code: "model_not_found", message: `${model} is no longer served here`, retryAfterS: null };
}

export function deadlinePassed(waitedMs: number): Refusal {
  const message = `the request's deadline passed while it waited (${formatDuration(Math.max(0, waitedMs))})`;
  return { code: "deadline", message, retryAfterS: null };
}

/** `serveMs`: how long the jobs that wait now will take; `nth`: how many were refused so before. */
export function queueFull(maxDepth: number, serveMs: number, nth: number): Refusal {
  // Even steps of the golden section lie as far from each other as can be, however many there are.
  const retryAfterS = retryAfter(serveMs / 1_000, 1, (nth * GOLDEN) % 1);
  return { code: "queue_full", message: `the queue is full: ${maxDepth} requests wait`, retryAfterS };
}

/** For those who waited for a load that failed; `refusedForMs` is 0 while the budget lasts. */
export function loadFailed(model: string, reason: string, refusedForMs: number): Refusal {
  const retryAfterS = Math.max(SOONEST_S, Math.ceil(refusedForMs / 1_000));
  return { code: "load_failed", message: `loading ${model} failed: ${reason}`, retryAfterS };
}
