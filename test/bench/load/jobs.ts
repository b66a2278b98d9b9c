// What the bench asks of the load process, and what that tells back.

/** Where a body grows to its size: in the load process, since it is long. */
export const FILL = "@fill@";

/** A fixed number of connections, each with the next request as soon as the last is answered. */
export interface ClosedLoop {
  kind: "closed-loop";
  port: number;
  body: string;
  /** So many bytes stand in place of `FILL` in the body. */
  fill?: number;
  connections: number;
  warmupMs: number;
  windowMs: number;
}

/** Streams that are opened one after the other over `rampMs` and stay open through the window. */
export interface HeldStreams {
  kind: "held-streams";
  port: number;
  body: string;
  connections: number;
  rampMs: number;
  warmupMs: number;
  windowMs: number;
}

/** One request at a time, the ports in turn, so that each meets an idle machine. */
export interface Sequential {
  kind: "sequential";
  ports: number[];
  body: string;
  warmups: number;
  count: number;
  pauseMs: number;
}

/** Requests at a fixed rate whether or not the earlier ones are answered. */
export interface OpenLoop {
  kind: "open-loop";
  port: number;
  body: string;
  perSecond: number;
  warmupMs: number;
  windowMs: number;
}

export type Job = ClosedLoop | HeldStreams | Sequential | OpenLoop;

export interface Outcome {
  /** Answers that ended, and SSE events that came, inside the window of `ms`. */
  answers: number;
  events: number;
  ms: number;
  /** Answers other than 200, broken connections, and requests never answered. */
  failures: number;
  /** Time to the first event of each request; a list per port. */
  firstEventMs: number[][];
}

/** The load process opens its window, closes it, and is idle again; `failed` is a fault of the bench. */
export type Report =
  | { at: "ready" | "open" | "idle" }
  | { at: "close"; outcome: Outcome }
  | { at: "failed"; message: string };

/** Called by a job around the time that it counts. */
export interface Window {
  open(): void;
  close(outcome: Outcome): void;
}
