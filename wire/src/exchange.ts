import type { Socket } from "node:net";
import type { Duplex, Readable } from "node:stream";
import { BodyBytes, type Clock, headerValue } from "@farmgate/shared";
import type { Dispatcher } from "undici";
import { Drain, type DrainLimits } from "./drain.ts";
import { type ExchangePhase, failureOf } from "./exchange-failure.ts";
import type { ExchangeOutcome, ExchangeSink } from "./exchange-sink.ts";
import { withSocketOf } from "./request-socket.ts";

export interface ExchangeRequest {
  origin: string;
  method: string;
  /** Path with query, below the origin. */
  path: string;
  /** Flat [name, value, ...]. */
  headers: string[];
  body: Buffer | BodyBytes | null;
  /** What the connection is to be turned into; absent: it stays HTTP. */
  upgrade?: "websocket";
}

export interface ExchangeTimeouts {
  /** Until the status line, in milliseconds, from the start of the exchange. */
  firstByteMs: number;
  /** Until the status line whatever comes before it, in milliseconds from the start of the exchange; null: no limit. */
  deadlineMs?: number | null;
  /**
   * `102 Processing` starts `firstByteMs` anew. Only for an upstream that is trusted to end its waits by itself: it can
   * hold a request for a day with them.
   */
  restartOnProcessing?: boolean;
  /** Between two pieces of the answer, in milliseconds; it also runs from the status line to the first piece. */
  idleMs: number;
}

/**
 * One request to one upstream: bytes are passed on as they come, one timer watches the phase under way, and
 * `cancel` closes the upstream's socket in every phase (before the connection, before headers, in the stream).
 */
export class Exchange implements Dispatcher.DispatchHandler {
  #sink: ExchangeSink;
  readonly #clock: Clock;
  readonly #timeouts: ExchangeTimeouts;
  /** What the connection is to be turned into; null: it stays HTTP. */
  readonly #upgrade: "websocket" | null;
  #controller: Dispatcher.DispatchController | null = null;
  #phase: ExchangePhase = "connect";
  #stopTimer: () => void = () => {};
  readonly #startedAt: number;
  /** From when the time for the first byte counts. */
  #firstByteFrom: number;
  /** On which the request went out; null: it has not yet. */
  #socket: Socket | null = null;
  /** What that had brought for earlier requests, in bytes. */
  #readBefore = 0;
  /** Answers below 200 so far. */
  #interim = 0;
  #lastByteAt: number;
  #firstDataAt: number | null = null;
  #ended = false;

  constructor(
    dispatcher: Dispatcher,
    request: ExchangeRequest,
    timeouts: ExchangeTimeouts,
    clock: Clock,
    sink: ExchangeSink,
  ) {
    this.#sink = sink;
    this.#clock = clock;
    this.#timeouts = timeouts;
    this.#upgrade = request.upgrade ?? null;
    this.#startedAt = clock.now();
    this.#firstByteFrom = this.#startedAt;
    this.#lastByteAt = this.#startedAt;
    this.#watch(this.#firstByteLeft());
    const large = request.body !== null && request.body.length >= LARGE_BODY;
    dispatcher.dispatch(
      {
        origin: request.origin,
        path: request.path,
        method: request.method,
        headers: large ? [...request.headers, "content-length", String(request.body?.length)] : request.headers,
        // The types do not know that undici takes any iterable.
        body: large ? (new BodySentOnce(request.body) as unknown as Readable) : inOne(request.body),
        upgrade: this.#upgrade,
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      this,
    );
  }

  /** When the upstream last sent something, on the clock's scale; the start of the exchange before that. */
  get lastByteAt(): number {
    return this.#lastByteAt;
  }

  /** When the first bytes of the answer's body came, on the clock's scale; null: none have. */
  get firstDataAt(): number | null {
    return this.#firstDataAt;
  }

  /** When bytes of the answer's body last came; null: none have. */
  get lastDataAt(): number | null {
    return this.#firstDataAt === null ? null : this.#lastByteAt;
  }

  /** From when the time for the first byte counts: the start, or the last word that the request waits for its turn. */
  get firstByteFrom(): number {
    return this.#firstByteFrom;
  }

  /** Goes on after `data` answered false. */
  resume(): void {
    this.#lastByteAt = this.#clock.now();
    this.#controller?.resume();
  }

  /** Ends the exchange now; `end` tells `cancelled`. Does nothing once it has ended. */
  cancel(): void {
    this.#fail(this.#phase, "cancelled");
  }

  /** Ends the exchange as `gone` while nothing of an answer has come; does nothing later. `message` says why, for people. */
  giveUp(message: string): void {
    if (this.#phase !== "body") this.#fail(this.#phase, "gone", message);
  }

  /**
   * Nobody wants the answer any more, but a broken connection would hurt the upstream: what is still to come is read
   * and thrown away up to the limits, and only then `end` tells `cancelled`. Without limits, and for a request that was
   * not sent yet, it is `cancel`, which also ends what was left this way.
   */
  abandon(limits: DrainLimits): void {
    if (this.#ended || this.#sink instanceof Drain) return;
    if (this.#phase === "connect" || (limits.bytes === 0 && limits.ms === 0)) {
      this.cancel();
      return;
    }
    this.#sink = new Drain(this.#sink, limits, this.#clock, () => this.cancel());
    this.resume();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#ended) {
      controller.abort(new Error("cancelled"));
      return;
    }
    this.#phase = "first_byte";
    withSocketOf((socket) => {
      this.#socket = socket;
      this.#readBefore = socket.bytesRead;
    });
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    if (this.#ended) return;
    if (status < 200) {
      this.#takeInterim(status);
      return;
    }
    // A good answer would be taken for what was asked for; an error tells why that is not to be had.
    if (this.#upgrade !== null && status < 300) {
      this.#fail("first_byte", "protocol", `${status} in place of a WebSocket`);
      return;
    }
    this.#phase = "body";
    this.#lastByteAt = this.#clock.now();
    this.#sink.head(status, rawHeadersOf(controller));
  }

  onRequestUpgrade(controller: Dispatcher.DispatchController, _status: number, _headers: object, socket: Duplex): void {
    const rawHeaders = rawHeadersOf(controller);
    const became = headerValue(rawHeaders, "upgrade")?.toLowerCase();
    if (this.#ended || this.#sink.upgraded === undefined || became !== this.#upgrade) {
      // What it sends after, on a connection that is nobody's, must not be thrown.
      socket.on("error", () => {}).destroy();
      this.#fail("first_byte", "protocol", "it switched to another protocol than was asked for");
      return;
    }
    this.#ended = true;
    this.#stopTimer();
    socket.pause();
    this.#sink.upgraded(rawHeaders, socket as Socket);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    // undici hands on an empty piece when it resumes: who pauses at each piece would never see the next one.
    if (this.#ended || chunk.length === 0) return;
    this.#lastByteAt = this.#clock.now();
    this.#firstDataAt ??= this.#lastByteAt;
    if (!this.#sink.data(chunk)) controller.pause();
  }

  onResponseEnd(): void {
    this.#end({ ok: true });
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    const failure = failureOf(error, this.#phase);
    if (failure.phase !== "first_byte" || this.#socket === null) return this.#end({ ok: false, failure });
    // What tells that it works on the request, or begins its head, has this very request: that was no idle end.
    const begun = this.#socket.bytesRead > this.#readBefore;
    const reused = this.#readBefore > 0 && !begun;
    this.#end({ ok: false, failure: { ...failure, reused, ...(begun && { begun }) } });
  }

  #takeInterim(status: number): void {
    const now = this.#clock.now();
    this.#interim += 1;
    if (this.#interim > MOST_INTERIM) {
      this.#fail("first_byte", "protocol", "no end of answers below 200");
    } else if (status === PROCESSING && this.#timeouts.restartOnProcessing === true) {
      if (now - this.#startedAt < LONGEST_PROCESSING_MS) this.#firstByteFrom = now;
    }
  }

  /**
   * One timer watches both limits: it is never touched on the way, and when it fires, arms itself again for what is
   * left. So it never sleeps longer than the idle limit, which may begin to count any moment.
   */
  #watch(leftMs: number): void {
    this.#stopTimer = this.#clock.after(Math.min(leftMs, this.#timeouts.idleMs), () => {
      const left = this.#phase === "body" ? this.#idleLeft() : this.#firstByteLeft();
      if (left <= 0) this.#fail(this.#phase, "timeout");
      else this.#watch(left);
    });
  }

  #firstByteLeft(): number {
    const { firstByteMs, deadlineMs } = this.#timeouts;
    const now = this.#clock.now();
    const left = firstByteMs - (now - this.#firstByteFrom);
    return Math.min(left, (deadlineMs ?? Number.POSITIVE_INFINITY) - (now - this.#startedAt));
  }

  /** A paused stream is not idle. */
  #idleLeft(): number {
    const silent = this.#controller?.paused === true ? 0 : this.#clock.now() - this.#lastByteAt;
    return this.#timeouts.idleMs - silent;
  }

  #fail(phase: ExchangePhase, kind: "timeout" | "cancelled" | "protocol" | "gone", message: string = kind): void {
    if (this.#ended) return;
    this.#end({ ok: false, failure: { phase, kind, reused: false, message } });
    this.#controller?.abort(new Error(kind));
  }

  #end(outcome: ExchangeOutcome): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#stopTimer();
    this.#sink.end(outcome);
  }
}

function rawHeadersOf({ rawHeaders }: Dispatcher.DispatchController): string[] {
  return (rawHeaders as Buffer[]).map((field) => field.toString("latin1"));
}

/** The status with which an upstream tells that it still works on a request (RFC 2518, 10.1). */
const PROCESSING = 102;
/** An agent tells it every ten seconds. What tells it more often within its time, or for longer, is broken. */
const MOST_INTERIM = 10_000;
const LONGEST_PROCESSING_MS = 86_400_000;

/** From this size on a body is let go once it was sent; below it is not worth the extra steps. */
const LARGE_BODY = 16 * 1_024;

/**
 * The client keeps what it was given as a body until the answer has ended, which for a long prompt and a long stream
 * is much. This one gives its bytes away; their number has to stand in a header.
 */
class BodySentOnce implements Iterable<Buffer> {
  #pieces: Buffer[];

  constructor(body: Buffer | BodyBytes | null) {
    this.#pieces = body instanceof BodyBytes ? body.pieces.toReversed() : body === null ? [] : [body];
  }

  *[Symbol.iterator](): Generator<Buffer> {
    for (let piece = this.#pieces.pop(); piece !== undefined; piece = this.#pieces.pop()) yield piece;
  }
}

function inOne(body: Buffer | BodyBytes | null): Buffer | null {
  return body instanceof BodyBytes ? body.joined() : body;
}
