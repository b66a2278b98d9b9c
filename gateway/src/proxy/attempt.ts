import { type Clock, headerValue, isEventStream } from "@farmgate/shared";
import {
  type DrainLimits,
  Exchange,
  type ExchangeFailure,
  type ExchangeOutcome,
  type ExchangeRequest,
  type ExchangeSink,
  type ExchangeTimeouts,
  failureOf,
  GatheredBytes,
  HeldAnswer,
  type Tunnel,
} from "@farmgate/wire";
import type { Socket } from "node:net";
import type { Dispatcher } from "undici";
import { readErrorReason } from "@farmgate/engines";
import type { AnswerMeaning, FailedAttempt } from "./failure.ts";
import { retryAfterSeconds } from "./headers.ts";

/** What an error answer means is read from this much of it, */
const MAX_ERROR_BODY = 64 * 1_024;
/** and from what came in this time, in milliseconds: one that never ends must not hold the request. */
const MAX_ERROR_MS = 5_000;

/** What is read whole is at most so large: the embeddings of a large batch, or pictures. */
const MAX_WHOLE_BODY = 256 * 1_024 ** 2;

/** What is wrong with a whole answer. */
export interface Unreadable {
  reason: string;
  /** It is a good one, but does not tell what was asked for: the worker does not offer it. */
  untold: boolean;
}

/** The caller's side of a try. */
export interface AttemptTarget {
  worker: string;
  /** The caller asked for a stream: an answer of unknown length may be one. */
  readonly asksStream: boolean;
  /** What an error answer of this worker means. */
  meaning(answer: { status: number; body: string }): AnswerMeaning;
  /** The caller is told of an error answer by what it was judged by, and nothing that follows is passed on. */
  readonly retellsErrors: boolean;
  /** Whether such an answer can still be passed on. */
  takes(status: number, rawHeaders: readonly string[]): boolean;
  /** Whether a good answer is read to its end before anything is passed on, by `readWhole` then. */
  gathers(status: number, rawHeaders: readonly string[]): boolean;
  /** Reads a whole answer, for the caller. */
  readWhole(body: Buffer): Buffer | Unreadable;
  /** The answer is accepted: the next calls pass it on, no other worker is asked any more. */
  accept(status: number, rawHeaders: string[]): void;
  write(chunk: Buffer): boolean;
  /** The worker has turned the connection into a WebSocket (101): the caller gets it; `onEnd` when it has ended. */
  join(rawHeaders: string[], upstream: Socket, onEnd: (broke: Error | null) => void): Tunnel;
  /** Nothing that follows can be passed on: what came so far is not what the worker's API has. */
  readonly isSpoiled: boolean;
}

export type AttemptEnd =
  /** The answer was passed on, up to its end or up to where it `broke`. */
  | { kind: "relayed"; status: number; broke: ExchangeFailure | null }
  /** No byte was passed on. */
  | { kind: "failed"; failed: FailedAttempt }
  /** `cancel` came before any byte was passed on. */
  | { kind: "cancelled" }
  /** The gateway itself failed on it. */
  | { kind: "thrown"; thrown: unknown };

/**
 * One try at one worker. A good answer is accepted with its head (a stream of events), once it is whole (what
 * `HeldAnswer` holds) or with its first bytes (everything else), an error answer only once it is known to be the caller's own fault.
 */
export class Attempt implements ExchangeSink {
  readonly #target: AttemptTarget;
  readonly #clock: Clock;
  readonly #maxErrorMs: number;
  readonly #done: (end: AttemptEnd) => void;
  readonly #exchange: Exchange;
  #status = 0;
  #rawHeaders: string[] = [];
  #accepted = false;
  /** A good answer that is read whole; null: it is passed on as it comes. */
  #whole: GatheredBytes | null = null;
  /** The pieces of an error answer until it was judged; null for a good one. */
  #errorBody: Buffer[] | null = null;
  #errorBytes = 0;
  #stopErrorTimer = (): void => {};
  /** All that the caller is to get of the worker has been passed on. */
  #over = false;
  #tunnel: Tunnel | null = null;
  /** An operator, or the end of the gateway, has ended it. */
  #cancelled = false;
  /** An error answer that is not for the caller. */
  #failed: FailedAttempt | null = null;

  constructor(
    upstream: Dispatcher,
    request: ExchangeRequest,
    timeouts: ExchangeTimeouts,
    clock: Clock,
    target: AttemptTarget,
    done: (end: AttemptEnd) => void,
  ) {
    this.#target = target;
    this.#clock = clock;
    this.#maxErrorMs = Math.min(MAX_ERROR_MS, timeouts.idleMs);
    this.#done = done;
    const sink = new HeldAnswer(this, clock, target.asksStream);
    this.#exchange = new Exchange(upstream, request, timeouts, clock, sink);
  }

  get lastByteAt(): number {
    return this.#tunnel?.lastByteAt ?? this.#exchange.lastByteAt;
  }

  get firstDataAt(): number | null {
    return this.#exchange.firstDataAt;
  }

  get lastDataAt(): number | null {
    return this.#exchange.lastDataAt;
  }

  get firstByteFrom(): number {
    return this.#exchange.firstByteFrom;
  }

  giveUp(why: string): void {
    this.#exchange.giveUp(why);
  }

  cancel(): void {
    this.#cancelled = true;
    this.#tunnel?.destroy();
    this.#exchange.cancel();
  }

  /** The caller has left: what is still to come of the answer is read up to the limits, and reaches nobody. */
  abandon(limits: DrainLimits): void {
    this.#stopErrorTimer();
    this.#exchange.abandon(limits);
  }

  resume(): void {
    this.#exchange.resume();
  }

  head(status: number, rawHeaders: string[]): void {
    this.#status = status;
    this.#rawHeaders = rawHeaders;
    if (status >= 300) {
      this.#errorBody = [];
      this.#stopErrorTimer = this.#clock.after(this.#maxErrorMs, () => this.#judge());
    } else if (this.#target.gathers(status, rawHeaders)) this.#whole = new GatheredBytes();
    else if (isEventStream(rawHeaders)) this.#accept();
  }

  upgraded(rawHeaders: string[], upstream: Socket): void {
    this.#status = 101;
    this.#tunnel = this.#target.join(rawHeaders, upstream, (broke) => {
      this.#done({
        kind: "relayed",
        status: 101,
        broke: this.#cancelled ? CANCELLED : broke && failureOf(broke, "body"),
      });
    });
  }

  data(chunk: Buffer): boolean {
    if (this.#whole !== null) return this.#gather(this.#whole, chunk);
    if (this.#errorBody === null) {
      if (!this.#accepted && !this.#accept()) return true;
      const more = this.#target.write(chunk);
      return this.#target.isSpoiled ? this.#stopReading() : more;
    }
    this.#errorBody.push(chunk);
    this.#errorBytes += chunk.length;
    return this.#errorBytes <= MAX_ERROR_BODY || this.#judge();
  }

  end(outcome: ExchangeOutcome): void {
    try {
      this.#end(outcome);
    } catch (thrown) {
      // The client that calls this keeps it to itself, and the request would wait for ever.
      this.#done({ kind: "thrown", thrown });
    }
  }

  #end(outcome: ExchangeOutcome): void {
    if (outcome.ok && this.#whole !== null) this.#passWholeOn(this.#whole);
    else if (outcome.ok && this.#errorBody !== null) this.#judge();
    else if (outcome.ok && this.#failed === null && !this.#accepted) this.#passEmptyOn();
    this.#stopErrorTimer();
    if (this.#failed !== null) {
      this.#done({ kind: "failed", failed: this.#failed });
    } else if (this.#accepted) {
      const broke = outcome.ok || this.#over ? null : outcome.failure;
      this.#done({ kind: "relayed", status: this.#status, broke });
    } else if (!outcome.ok) {
      const { failure } = outcome;
      const { kind } = failure;
      if (kind === "cancelled") this.#done({ kind: "cancelled" });
      else this.#done({ kind: "failed", failed: { ...failure, kind, worker: this.#target.worker, by: "connection" } });
    }
  }

  #gather(whole: GatheredBytes, chunk: Buffer): boolean {
    whole.add(chunk);
    if (whole.length <= MAX_WHOLE_BODY) return true;
    this.#whole = null;
    this.#fail("worker_fault", "an answer too large to be translated");
    return true;
  }

  #passWholeOn(whole: GatheredBytes): void {
    const body = this.#target.readWhole(whole.bytes());
    if (Buffer.isBuffer(body)) {
      if (this.#accept()) this.#target.write(body);
    } else if (body.untold) {
      const { worker } = this.#target;
      const told = { meaning: "unknown_model", status: 501, untold: true, reason: body.reason } as const;
      this.#failed = { worker, by: "answer", retryAfterS: null, ...told };
    } else this.#fail("worker_fault", body.reason);
  }

  /** Nothing is no JSON, and no caller can read it; of another kind, as the text in a silence, it may be right. */
  #passEmptyOn(): void {
    if (this.#status === 200 && isJson(this.#rawHeaders)) this.#fail("worker_fault", "an empty answer");
    else this.#accept();
  }

  /**
   * What an error answer means, as far as it came: one that is the caller's own fault is passed on with all that
   * follows, unless that is retold, any other ends the try. False: the caller takes no more for now.
   */
  #judge(): boolean {
    this.#stopErrorTimer();
    const pieces = this.#errorBody ?? [];
    this.#errorBody = null;
    const body = Buffer.concat(pieces).toString("utf8");
    const meaning = this.#target.meaning({ status: this.#status, body });
    if (meaning === "client_fault") return this.#passErrorOn(pieces);
    this.#fail(meaning, readErrorReason(body));
    return true;
  }

  #fail(meaning: Exclude<AnswerMeaning, "client_fault">, reason: string): void {
    const { worker } = this.#target;
    const retryAfterS = retryAfterSeconds(this.#rawHeaders);
    this.#failed = { worker, by: "answer", status: this.#status, meaning, retryAfterS, reason };
    this.#exchange.cancel();
  }

  #passErrorOn(pieces: Buffer[]): boolean {
    if (!this.#accept()) return true;
    let more = true;
    for (const piece of pieces) more = this.#target.write(piece);
    return this.#target.retellsErrors ? this.#stopReading() : more;
  }

  /** An answer that never ends must not hold a caller who has all that there is to have of it. */
  #stopReading(): true {
    this.#over = true;
    this.#exchange.cancel();
    return true;
  }

  /** False: it is no stream of events, and its caller has been promised one. */
  #accept(): boolean {
    if (!this.#target.takes(this.#status, this.#rawHeaders)) {
      this.#fail("worker_fault", "no stream of events");
      return false;
    }
    this.#accepted = true;
    this.#target.accept(this.#status, this.#rawHeaders);
    return true;
  }
}

const CANCELLED: ExchangeFailure = { phase: "body", kind: "cancelled", reused: false, message: "cancelled" };

/** Also without a word on it: that is what these APIs answer. */
function isJson(rawHeaders: readonly string[]): boolean {
  return /^(application\/json\b|$)/i.test(headerValue(rawHeaders, "content-type") ?? "");
}
