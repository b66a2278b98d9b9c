import type { ErrorCode } from "@farmgate/shared";

export type Priority = "interactive" | "batch";

/** One caller's request, or an operator's `load` (a job without an answer), as the scheduler sees it. */
export interface Job {
  id: string;
  /** What its caller and the logs know it by; the same when a job comes again under a new id. */
  requestId: string;
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
  /** Bytes while it is loaded; null: not known, then it is taken to need the whole budget. */
  memory: number | null;
  /** Always loaded; never a victim. */
  pinned: boolean;
  /** Idle milliseconds after which it is unloaded; 0: never. */
  ttl: number;
  /** Loaded once at start, where it fits. */
  preload: boolean;
  /** Loaded again by itself after its engine died. */
  restart: boolean;
  /** It can be taken out of memory without loading another. */
  unloads: boolean;
  /**
   * Where it cannot: the one whose next load replaces it, as a name that those models share (unset: the swap script's);
   * null: nothing does, it stays for as long as its engine runs.
   */
  replacedIn?: string | null;
}

/** Contract section 3, `queue`, `swap` and `memory`; times in milliseconds. */
export interface SchedulerRules {
  maxBatch: number;
  maxWait: number;
  minResident: number;
  /** How long an idle model is kept for the rest of a burst before a swap away from it; unset: 0. */
  gather?: number;
  maxDepth: number;
  failureLimit: number;
  failureReset: number;
  /** Bytes for all models together; 0: one model at a time beside the pinned ones. */
  budget: number;
  models: readonly ModelRules[];
}

/** What was learned of the models; pure reads. */
export interface Costs {
  /** Milliseconds that a load of the model takes; null: not known yet. */
  reloadMs(model: string): number | null;
}

/** What happened. The scheduler is told everything and asks nothing. */
export type SchedulerEvent =
  /** A request came in. Answered at once by `grant` or `reject`, or kept. */
  | { type: "arrive"; job: Job }
  /** Its caller is gone, or an operator cancelled it: waiting or running. A running one still ends with `done`. */
  | { type: "leave"; id: string }
  /** A granted job's answer has ended, well or not; its slot is free. */
  | { type: "done"; id: string }
  /** The model was found loaded: at start, or because its engine loaded it by its own will. */
  | { type: "found"; model: string }
  /** The swap that was under way ended with the model proved ready. */
  | { type: "swapped"; model: string }
  /** The swap that was under way failed; `lost` are the models that are gone, every other one still stands. */
  | { type: "swap_failed"; model: string; reason: string; lost: readonly string[] }
  /** A loaded model's engine turned out to be gone (connection refused, no longer ready). */
  | { type: "lost"; model: string }
  /** An operator's order; ignored unless the model is loaded, idle and not pinned, and no operation is under way. */
  | { type: "unload"; model: string }
  /** The unload that was under way ended well; or a loaded model left the memory by its engine's own will. */
  | { type: "unloaded"; model: string }
  /** The unload that was under way failed; `still`: the model is loaded as before. */
  | { type: "unload_failed"; model: string; still: boolean; reason: string }
  /** These are the models from now on. Who waits for one that is gone is rejected, what runs may end. */
  | { type: "models"; models: readonly ModelRules[] }
  /** The time asked for by `wake` has come; the first one also says that all that was loaded at start is told. */
  | { type: "tick" }
  /** No new jobs; those that wait are still served (`drain`), or all is as before (`resume`). */
  | { type: "drain" }
  | { type: "resume" };

/** What to do. The executor does exactly this, in order. */
export type SchedulerEffect =
  /** Send the job to its model, which is proved ready. */
  | { type: "grant"; id: string; model: string; waitedMs: number }
  /** Answer the job with this error; `retry: false` where the same request can never succeed here. */
  | { type: "reject"; id: string; code: ErrorCode; message: string; retryAfterS: number | null; retry?: false }
  /**
   * Take the victims out of memory, none of which has a running answer, and load `model`. Ends with `swapped` or
   * `swap_failed`. `previous`: the model last proved ready.
   */
  | { type: "swap"; model: string; previous: string | null; victims: readonly string[]; reason: string }
  /** Take the idle model out of memory. Ends with `unloaded` or `unload_failed`. */
  | { type: "unload"; model: string; reason: string }
  /** Send `tick` at this time, instead of any wake asked for before; null: none is needed. */
  | { type: "wake"; at: number | null };

/** The scheduler's state as others may read it: for `/catalog`, `/health` and metrics. */
export interface SchedulerView {
  draining: boolean;
  /** The models proved ready, the one granted most recently first. */
  loaded: readonly string[];
  swappingTo: string | null;
  unloading: string | null;
  swaps: number;
  /** Models taken out of memory to make room for another. */
  evictions: number;
  depth: number;
  inflight: number;
  oldestWaitMs: number;
  /** Bytes of the models that are loaded or on their way in, as far as they are known. */
  memoryUsed: number;
  /** Bytes; 0: one model at a time. */
  memoryBudget: number;
  models: readonly {
    name: string;
    state: "warm" | "loading" | "cold" | "failed";
    queued: number;
    running: number;
    oldestWaitMs: number | null;
    /** Set while the failure budget refuses the model: milliseconds until it is tried again. */
    retryInMs: number | null;
    pinned: boolean;
    /** How long it has been loaded with nothing to do; null: it is not loaded, or busy. */
    idleMs: number | null;
  }[];
}

/** A waiting job, for those who look into the queue. */
export interface WaitingJob {
  id: string;
  requestId: string;
  model: string;
  /** Of the class that it counts in now: a batch job becomes interactive with age. */
  priority: Priority;
  /** 1 for the job that its model's queue takes next. */
  position: number;
  waitedMs: number;
}
