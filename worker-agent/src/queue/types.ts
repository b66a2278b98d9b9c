import type { ErrorCode } from "@farmgate/shared";

export type Priority = "interactive" | "batch";

/** One caller's request, or an operator's `load` (a job without an answer), as the scheduler sees it. */
export interface Job {
  id: string;
  /** The model's configured name; aliases are resolved before. */
  model: string;
  /** Who asked, for fairness between callers; empty when nobody is named. */
  caller: string;
  priority: Priority;
  /** Milliseconds on the clock of `now`; the wait already spent elsewhere is subtracted. */
  arrivedAt: number;
  /** Past this the job is dropped (it never promotes a job); null: none. */
  deadlineAt: number | null;
  kind: "request" | "load";
}

/** What the scheduler must know of a model. */
export interface ModelRules {
  name: string;
  /** Requests that its engine serves at once. */
  slots: number;
}

/** Contract section 3, `queue` and `swap`; times in milliseconds. */
export interface SchedulerRules {
  maxBatch: number;
  maxWait: number;
  minResident: number;
  /** How long an idle model is kept for the rest of a burst before a swap away from it; unset: 0. */
  gather?: number;
  maxDepth: number;
  failureLimit: number;
  failureReset: number;
  models: readonly ModelRules[];
}

/** What happened. The scheduler is told everything and asks nothing. */
export type SchedulerEvent =
  /** A request came in. Answered at once by `grant` or `reject`, or kept. */
  | { type: "arrive"; job: Job }
  /** Its caller is gone, or an operator cancelled it: waiting or running. A running one still ends with `done`. */
  | { type: "leave"; id: string }
  /** A granted job's answer has ended, well or not; its slot is free. */
  | { type: "done"; id: string }
  /** At start, before any other event: this model was found loaded. */
  | { type: "found"; model: string }
  /** The swap that was under way ended with the model proved ready. */
  | { type: "swapped"; model: string }
  /** The swap that was under way failed; nothing is taken to be loaded. */
  | { type: "swap_failed"; model: string; reason: string }
  /** The loaded model's engine turned out to be gone (connection refused, no longer ready). */
  | { type: "lost"; model: string }
  /** The loaded model is being taken out of memory by an operator's order. */
  | { type: "unloaded"; model: string }
  /** The time asked for by `wake` has come. */
  | { type: "tick" }
  /** No new jobs; those that wait are still served (`drain`), or all is as before (`resume`). */
  | { type: "drain" }
  | { type: "resume" };

/** What to do. The executor does exactly this, in order. */
export type SchedulerEffect =
  /** Send the job to its model, which is proved ready. */
  | { type: "grant"; id: string; model: string; waitedMs: number }
  /** Answer the job with this error. */
  | { type: "reject"; id: string; code: ErrorCode; message: string; retryAfterS: number | null }
  /** Run the swap to `model`; no answer is running. Ends with `swapped` or `swap_failed`. */
  | { type: "swap"; model: string; previous: string | null; reason: string }
  /** Send `tick` at this time, instead of any wake asked for before; null: none is needed. */
  | { type: "wake"; at: number | null };

/** The scheduler's state as others may read it: for `/catalog`, `/health` and metrics. */
export interface SchedulerView {
  draining: boolean;
  /** The model proved ready, if any. */
  loaded: string | null;
  swappingTo: string | null;
  swaps: number;
  depth: number;
  inflight: number;
  oldestWaitMs: number;
  models: readonly {
    name: string;
    state: "warm" | "loading" | "cold" | "failed";
    queued: number;
    running: number;
    oldestWaitMs: number | null;
    /** Set while the failure budget refuses the model: milliseconds until it is tried again. */
    retryInMs: number | null;
  }[];
}
