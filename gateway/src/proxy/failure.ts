import { FarmError, isOutOfFiles } from "@farmgate/shared";

/** What the worker's answer means: its adapter's word. */
export type AnswerMeaning = "client_fault" | "unknown_model" | "busy" | "loading" | "load_failed" | "worker_fault";

/** One try that brought no byte to the caller. */
export type FailedAttempt = { worker: string } & (
  | {
      by: "answer";
      status: number;
      meaning: Exclude<AnswerMeaning, "client_fault">;
      retryAfterS: number | null;
      /** The worker's own words in one short line; empty when it gave none. */
      reason: string;
      /** Its answer was good, but did not tell what was asked for: 501 is our word for that, and says nothing else of it. */
      untold?: true;
    }
  | {
      by: "connection";
      phase: "connect" | "first_byte" | "body";
      /**
       * dropped: as `readDrop` says; it speaks neither for nor against its worker, and opens no breaker. gone: the worker
       * became unhealthy while its answer was waited for.
       */
      kind: "refused" | "unreachable" | "timeout" | "reset" | "protocol" | "gone" | "dropped";
      /** The connection had carried an answer before, and nothing of this one came. */
      reused: boolean;
      /** Bytes of this answer's head had come. */
      begun?: true;
      message: string;
    }
);

export type NextStep =
  /** Ask the next worker. */
  | { step: "next" }
  /** Ask the same worker once more, on a new connection. */
  | { step: "fresh" }
  /** Tell the caller `failureError(history)`. */
  | { step: "final" };

export interface FailureRules {
  /** Contract section 2, `retry.attempts`: how many workers may fail. */
  attempts: number;
}

/**
 * A failed try at an engine that answers a request of a wrong form by closing the connection (`dropsBadRequests`):
 * such an end, on a fresh connection and before any byte, may well be the request's own fault. Another worker is asked
 * all the same, since one of another kind answers it with an error that says what is wrong.
 */
export function readDrop(tried: FailedAttempt, dropsBadRequests: boolean): FailedAttempt {
  if (!dropsBadRequests || tried.by === "answer") return tried;
  const dropped = tried.kind === "reset" && tried.phase === "first_byte" && !tried.reused && tried.begun !== true;
  return dropped ? { ...tried, kind: "dropped" } : tried;
}

/**
 * What follows a failed try. `history` holds every failed try of the request, the last one included.
 * (1) A reused connection that broke before any byte: the same worker once more; its idle end raced the request.
 * (2) No first byte in time: final, since the worker may have computed all that time.
 * (3) Enough workers failed: final. Answers "unknown model", "busy" and "loading" are no failures, nor is a
 * connection that never came about (see `usesAttempt`).
 * (4) Else the next worker.
 */
export function afterFailure(history: readonly FailedAttempt[], freshTried: boolean, rules: FailureRules): NextStep {
  const last = history.at(-1);
  if (last?.by === "connection") {
    if (last.kind === "reset" && last.reused && !freshTried) return { step: "fresh" }; // (1)
    if (isFirstByteTimeout(last)) return { step: "final" }; // (2)
  }
  if (history.filter(usesAttempt).length >= rules.attempts) return { step: "final" }; // (3)
  return { step: "next" }; // (4)
}

/**
 * The error that tells a caller of failed tries, at least one. `listedElsewhere`: a worker that could not be tried
 * (it is away, draining, ...) lists the model for this API. `notAsked`: workers that were passed over, with why, in words.
 * (1) The time for the first byte passed. (2) Every worker says that it has no such model: 404; or 501 when it has the
 * model but not what is asked of it; or 503 when it is listed elsewhere. (3) Any is busy or loading: 503 with the
 * smallest time to wait. (4) The gateway itself could open no connection: 503. (5) Else the last failure that used up an
 * attempt.
 */
export function failureError(
  model: string,
  history: readonly FailedAttempt[],
  listedElsewhere: boolean,
  notAsked = "",
): FarmError {
  const more = notAsked === "" ? "" : `; not asked: ${notAsked}`;
  const error = errorOf(model, history, listedElsewhere, more);
  error.logged = errorOf(model, history.map(withoutQuotes), listedElsewhere, more).message;
  return error;
}

/** An engine's words on its own failure may quote what it was asked; a script's on a load, and ours, do not. */
function withoutQuotes(tried: FailedAttempt): FailedAttempt {
  if (tried.by !== "answer" || tried.meaning === "load_failed" || tried.untold === true) return tried;
  return { ...tried, reason: "" };
}

function errorOf(
  model: string,
  history: readonly FailedAttempt[],
  listedElsewhere: boolean,
  notAsked: string,
): FarmError {
  const last = history.at(-1);
  if (last !== undefined && isFirstByteTimeout(last)) {
    return new FarmError("timeout_first_byte", `Worker "${last.worker}" sent no first byte in time.`); // (1)
  }
  const told = describe(history) + notAsked;
  if (history.every(isUnknownThere)) {
    if (listedElsewhere) {
      return new FarmError("no_worker", `The workers with "${model}" cannot be used now; others: ${told}.`);
    }
    return history.every(isNotOffered)
      ? new FarmError("not_supported", `No worker offers this with the model "${model}": ${told}.`)
      : new FarmError("model_not_found", `No worker knows the model "${model}": ${told}.`, { param: "model" }); // (2)
  }
  const waiting = history.filter(isBackpressure);
  if (waiting.length > 0) {
    const hints = waiting.flatMap((tried) => tried.retryAfterS ?? []);
    const details = { retryAfterS: hints.length > 0 ? Math.min(...hints) : DEFAULT_RETRY_AFTER_S };
    const busy = waiting.some((tried) => tried.meaning === "busy");
    return busy
      ? new FarmError("queue_full", `Every worker for "${model}" is busy: ${told}.`, details)
      : new FarmError("no_worker", `"${model}" is still being loaded: ${told}.`, details); // (3)
  }
  if (history.every((tried) => tried.by === "connection" && isOutOfFiles(tried.message))) {
    const text = "The gateway has as many files and connections open as its system allows.";
    return new FarmError("queue_full", text, { retryAfterS: DEFAULT_RETRY_AFTER_S }); // (4)
  }
  return lastFailure(model, history.filter(usesAttempt).at(-1), told); // (5)
}

const DEFAULT_RETRY_AFTER_S = 5;

function lastFailure(model: string, last: FailedAttempt | undefined, told: string): FarmError {
  if (last?.by === "answer" && last.status === 508) {
    return new FarmError("loop_detected", `Requests for "${model}" go round in a circle of gateways: ${told}.`);
  }
  if (last?.by === "answer" && last.meaning === "load_failed") {
    const details = last.retryAfterS === null ? {} : { retryAfterS: last.retryAfterS };
    return new FarmError("load_failed", `"${model}" could not be loaded: ${told}.`, details);
  }
  if (last?.by === "connection" && last.phase === "connect" && last.kind === "timeout") {
    return new FarmError("timeout_connect", `No connection in time for "${model}": ${told}.`);
  }
  if (last?.by === "connection" && last.phase === "body" && last.kind === "timeout") {
    return new FarmError("timeout_idle", `The answer for "${model}" stopped coming: ${told}.`);
  }
  return new FarmError("worker_failed", `No worker could answer for "${model}": ${told}.`);
}

/**
 * Whether the try counts against `retry.attempts`, which keeps a request that breaks workers from breaking them all,
 * and a caller from waiting on many that fail.
 * A refused or unreachable connection does neither: nothing was sent, and it was known at once. Were it counted, a few
 * machines that are switched off, of which nobody knows yet what they hold, would keep a request from the one that
 * can serve it. The walk still ends, since a worker is tried once. A connection that timed out cost its caller that
 * time, so it counts.
 */
export function usesAttempt(tried: FailedAttempt): boolean {
  if (tried.by === "answer") return tried.meaning === "worker_fault" || tried.meaning === "load_failed";
  return tried.kind !== "refused" && tried.kind !== "unreachable";
}

/** Whether asking one more worker counts against the farm's retry budget: the last one failed with the request. */
export function isRetry(history: readonly FailedAttempt[]): boolean {
  const last = history.at(-1);
  return last !== undefined && usesAttempt(last);
}

/** The failure, told to a caller whose request was put to no further worker since too many are. */
export function asNotRetried(failure: FarmError, retryAfterS: number): FarmError {
  const more = "No further worker was asked, since too many requests are being retried.";
  const { param } = failure;
  const details = { retryAfterS: failure.retryAfterS ?? retryAfterS, ...(param !== null && { param }) };
  const error = new FarmError(failure.code, `${failure.message} ${more}`, details);
  error.logged = `${failure.logged} ${more}`;
  return error;
}

/**
 * Whether the try speaks against the worker's breaker for the model. What is the caller's own doing never does: a 4xx,
 * a time-out at the caller's own deadline (`late`), a circle of gateways. Nor does a full queue, a load, or what is the
 * machine's trouble and not the model's: a connection that nobody accepts (it costs no time, all models share it, and it
 * puts the worker last until its next good poll), and an agent that is gone.
 */
export function isPairFault(tried: FailedAttempt, late: boolean): boolean {
  if (tried.by === "answer") return tried.meaning === "worker_fault" && tried.status !== 508;
  if (tried.kind === "timeout") return !late;
  return tried.kind === "reset" || tried.kind === "protocol";
}

/** The last try in a few words, without what the worker itself said. */
export function faultWords(tried: FailedAttempt): string {
  if (tried.by === "answer") return `answered ${tried.status}`;
  if (tried.kind === "timeout") return tried.phase === "connect" ? "no connection in time" : "no answer in time";
  return tried.kind === "reset" ? "the connection broke" : "no HTTP answer";
}

/**
 * Whether the worker's copy of the model was put to the question, so that no other variant may answer it now. It was not
 * where no connection came about, nor where the worker says that it has no such model.
 */
export function triedCopy(tried: FailedAttempt): boolean {
  return tried.by === "answer" ? !isUnknownThere(tried) : tried.phase !== "connect";
}

/** Whether the worker says that it has no such model, or not what was asked of it. */
export function isUnknownThere(tried: FailedAttempt): tried is Extract<FailedAttempt, { by: "answer" }> {
  return tried.by === "answer" && tried.meaning === "unknown_model";
}

/**
 * Whether the worker may well have the model, but not what it was asked of it: another way may lead there. A 404 that
 * speaks of the model is no such answer.
 */
export function isNotOfferedThere(tried: FailedAttempt): boolean {
  if (!isUnknownThere(tried)) return false;
  if (tried.status === 404) return !/\bmodel\b/i.test(tried.reason);
  return tried.status === 405 || tried.status === 501;
}

function isBackpressure(tried: FailedAttempt): tried is Extract<FailedAttempt, { by: "answer" }> {
  return tried.by === "answer" && (tried.meaning === "busy" || tried.meaning === "loading");
}

function isNotOffered(tried: FailedAttempt): boolean {
  return tried.by === "answer" && tried.meaning === "unknown_model" && tried.status === 501;
}

function isFirstByteTimeout(tried: FailedAttempt): boolean {
  return tried.by === "connection" && tried.kind === "timeout" && tried.phase === "first_byte";
}

/** `gpu-box: connect refused (ECONNREFUSED), mac-1: answered 503 (busy)` */
function describe(history: readonly FailedAttempt[]): string {
  return history.map((tried) => `${tried.worker}: ${describeOne(tried)}`).join(", ");
}

const PHASE_WORDS = {
  connect: "connecting",
  first_byte: "before the first byte",
  body: "before any byte was passed on",
};
const MEANING_WORDS = {
  unknown_model: "does not know the model",
  busy: "busy",
  loading: "loading",
  load_failed: "load failed",
  worker_fault: "worker fault",
};

function describeOne(tried: FailedAttempt): string {
  if (tried.by === "answer") {
    if (tried.untold === true) return tried.reason;
    const words = isNotOffered(tried) ? "does not offer this" : MEANING_WORDS[tried.meaning];
    const told = usesAttempt(tried) && tried.reason !== "";
    return `answered ${tried.status} (${words}${told ? `: ${tried.reason}` : ""})`;
  }
  if (tried.kind === "dropped") return "closed the connection unanswered, as it does with a request of a wrong form";
  return `${tried.kind} while ${PHASE_WORDS[tried.phase]} (${tried.message})`.replace("while before", "before");
}

/** For `farmgate_retries_total{reason}`. */
export function retryReason(tried: FailedAttempt): string {
  return tried.by === "answer" ? tried.meaning : `${tried.phase}_${tried.kind}`;
}
