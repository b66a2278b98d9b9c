import type { PollResult } from "@farmgate/engines";

/** What happens later. `worker` is a place in the farm, `request` one in the trace. */
export type LanEvent =
  | { do: "arrive"; request: number }
  | { do: "give-up"; request: number; why: "caller" | "queue" | "deadline" }
  | { do: "poll"; worker: number }
  | { do: "answered"; worker: number; request: number }
  /** Of an agent: a load or an unload has ended, or it asked to be woken. */
  | { do: "loaded"; worker: number; model: string; mark: number }
  | { do: "unloaded"; worker: number; model: string }
  | { do: "wake"; worker: number; mark: number }
  /** The gateway looks whether copies are missing. */
  | { do: "look"; regular: boolean }
  /** Of the gateway's own timers. */
  | { do: "timer"; run(): void };

/** What a worker is told of the farm around it, and tells it. */
export interface LanHost {
  readonly now: number;
  at(ms: number, event: LanEvent): void;
  /** An engine has begun with it; the first token comes then. */
  started(request: number, firstTokenAt: number): void;
  /** The answer is whole. */
  served(request: number): void;
  /** The worker does not serve it. */
  turnedAway(request: number): void;
  /** It waits in an agent's queue, and was promised so much at most (milliseconds); then its grant. */
  promised(request: number, ms: number): void;
  granted(request: number, queuedMs: number): void;
}

/** What a worker did, in milliseconds. */
export interface WorkerFigures {
  name: string;
  loads: number;
  loadingMs: number;
  /** With at least one answer under way. */
  busyMs: number;
  /** Answers under way, summed over time. */
  answeringMs: number;
  served: number;
}

export interface AskedTokens {
  /** Of the prompt, those that must be read. */
  prompt: number;
  output: number;
}

/** Who asks, for the order in an agent's queue. */
export interface Caller {
  /** Empty: not known. */
  name: string;
  isBatch: boolean;
}

/** One worker in virtual time. */
export interface WorkerRun {
  submit(request: number, model: string, tokens: AskedTokens, caller: Caller): void;
  /** Its caller is gone, wherever it is. */
  leave(request: number): void;
  poll(): PollResult;
  /** An order of the gateway to have it loaded, or taken out. */
  load(model: string): void;
  unload(model: string): void;
  take(event: LanEvent): void;
  figures(until: number): WorkerFigures;
  /** By model: how often it was loaded. */
  readonly loadsOf: ReadonlyMap<string, number>;
}
