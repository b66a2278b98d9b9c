import type { Clock, FarmError } from "@farmgate/shared";
import type { CallRun } from "./call-run.ts";
import type { AskedTokens } from "./worker-run.ts";

/** A request that comes in. */
export interface AskedRequest {
  model: string;
  tokens: AskedTokens;
  /** Whose prompts have a beginning in common, and whether this one has some of it. */
  conversation: number;
  hasPrefix: boolean;
  /** Virtual milliseconds; null: none. */
  deadlineAt: number | null;
}

/** What becomes of a request that was put to the gateway. */
export interface GatewayDoer {
  readonly clock: Clock;
  /** Send it there. `holdsPrefix`: the worker answered its conversation last. */
  send(request: number, worker: string, model: string, holdsPrefix: boolean): void;
  /** Nothing can serve it. */
  refused(request: number, why: RefusedBy): void;
  /** Its deadline is a later one from now on. */
  relaxed(request: number, at: number): void;
  catalogChanged(): void;
  /** For placement: a listed model was asked for, and what became of the request. By the key of the model. */
  asked(key: string): void;
  ended(key: string, call: CallRun, served: { status: number | null; error: FarmError | null }): void;
}

export type RefusedBy = "unknown" | "no_worker" | "full" | "deadline";

/** Why one is taken away from the gateway. */
export type LeftBy = "caller" | "queue" | "deadline";

/** What the gateway would have answered. */
export const CODES = {
  unknown: "model_not_found",
  no_worker: "no_worker",
  full: "queue_full",
  deadline: "deadline",
  caller: "client_closed",
  queue: "timeout_queue",
} as const;
