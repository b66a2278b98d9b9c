import { type Clock, isEventStream } from "@farmgate/shared";
import {
  Exchange,
  type ExchangeFailure,
  type ExchangeOutcome,
  type ExchangeRequest,
  type ExchangeSink,
  type ExchangeTimeouts,
} from "@farmgate/wire";
import type { Dispatcher } from "undici";
import type { AnswerMeaning, FailedAttempt } from "./failure.ts";
import { retryAfterSeconds } from "./headers.ts";

/** An error answer is read up to here to learn what it means; a longer one is passed on unread. */
const MAX_ERROR_BODY = 64 * 1_024;

/** The caller's side of a try. */
export interface AttemptTarget {
  worker: string;
  /** What an error answer of this worker means. */
  meaning(answer: { status: number; body: string }): AnswerMeaning;
  /** The answer is accepted: the next calls pass it on, no other worker is asked any more. */
  accept(status: number, rawHeaders: string[]): void;
  write(chunk: Buffer): boolean;
}

export type AttemptEnd =
  /** The answer was passed on, up to its end or up to where it `broke`. */
  | { kind: "relayed"; status: number; broke: ExchangeFailure | null }
  /** No byte was passed on. */
  | { kind: "failed"; failed: FailedAttempt }
  /** `cancel` came before any byte was passed on. */
  | { kind: "cancelled" };

/**
 * One try at one worker. A good answer is accepted with its head (a stream of events) or its first bytes
 * (everything else), an error answer only once it is known to be the caller's own fault.
 */
export class Attempt implements ExchangeSink {
  readonly #target: AttemptTarget;
  readonly #done: (end: AttemptEnd) => void;
  readonly #exchange: Exchange;
  #status = 0;
  #rawHeaders: string[] = [];
  #accepted = false;
  /** The pieces of an error answer; null for a good one. */
  #errorBody: Buffer[] | null = null;
  #errorBytes = 0;

  constructor(
    upstream: Dispatcher,
    request: ExchangeRequest,
    timeouts: ExchangeTimeouts,
    clock: Clock,
    target: AttemptTarget,
    done: (end: AttemptEnd) => void,
  ) {
    this.#target = target;
    this.#done = done;
    this.#exchange = new Exchange(upstream, request, timeouts, clock, this);
  }

  get lastByteAt(): number {
    return this.#exchange.lastByteAt;
  }

  cancel(): void {
    this.#exchange.cancel();
  }

  resume(): void {
    this.#exchange.resume();
  }

  head(status: number, rawHeaders: string[]): void {
    this.#status = status;
    this.#rawHeaders = rawHeaders;
    if (status >= 300) this.#errorBody = [];
    else if (isEventStream(rawHeaders)) this.#accept();
  }

  data(chunk: Buffer): boolean {
    if (this.#errorBody === null) {
      if (!this.#accepted) this.#accept();
      return this.#target.write(chunk);
    }
    this.#errorBody.push(chunk);
    this.#errorBytes += chunk.length;
    return this.#errorBytes <= MAX_ERROR_BODY || this.#passErrorOn(this.#errorBody);
  }

  end(outcome: ExchangeOutcome): void {
    if (this.#accepted) {
      this.#done({ kind: "relayed", status: this.#status, broke: outcome.ok ? null : outcome.failure });
    } else if (outcome.ok) {
      this.#judge();
    } else {
      const { failure } = outcome;
      const { kind } = failure;
      if (kind === "cancelled") this.#done({ kind: "cancelled" });
      else this.#done({ kind: "failed", failed: { ...failure, kind, worker: this.#target.worker, by: "connection" } });
    }
  }

  #judge(): void {
    const relayed = { kind: "relayed", status: this.#status, broke: null } as const;
    if (this.#errorBody === null) {
      this.#accept();
      this.#done(relayed);
      return;
    }
    const body = Buffer.concat(this.#errorBody).toString("utf8");
    const meaning = this.#target.meaning({ status: this.#status, body });
    if (meaning !== "client_fault") {
      const retryAfterS = retryAfterSeconds(this.#rawHeaders);
      const { worker } = this.#target;
      this.#done({ kind: "failed", failed: { worker, by: "answer", status: this.#status, meaning, retryAfterS } });
      return;
    }
    this.#passErrorOn(this.#errorBody);
    this.#done(relayed);
  }

  #passErrorOn(pieces: Buffer[]): boolean {
    this.#errorBody = null;
    this.#accept();
    let more = true;
    for (const piece of pieces) more = this.#target.write(piece);
    return more;
  }

  #accept(): void {
    this.#accepted = true;
    this.#target.accept(this.#status, this.#rawHeaders);
  }
}
