import type { Socket } from "node:net";
import { type Clock, headerValue, isEventStream } from "@farmgate/shared";
import type { ExchangeOutcome, ExchangeSink } from "./exchange-sink.ts";
import { GatheredBytes } from "./gathered-bytes.ts";

/** A whole answer up to this size is held back, in bytes, */
const MOST_HELD = 1_024 ** 2;
/** and one of unknown length for so long, in milliseconds: some servers send blanks to keep a connection alive. */
const LONGEST_HELD_MS = 2_000;

/**
 * Stands before a sink and holds back a short whole answer until it is complete: broken in its middle, nothing of it has
 * been passed on, and an error can be told or another worker asked. What is no JSON or text, or long, or comes slowly
 * without saying how long it is, passes as it comes, and so does everything where the caller asked for a stream and
 * the answer may be one.
 */
export class HeldAnswer implements ExchangeSink {
  readonly #sink: ExchangeSink;
  readonly #clock: Clock;
  readonly #asksStream: boolean;
  #held: { status: number; rawHeaders: string[]; body: GatheredBytes; until: number } | null = null;

  constructor(sink: ExchangeSink, clock: Clock, asksStream: boolean) {
    this.#sink = sink;
    this.#clock = clock;
    this.#asksStream = asksStream;
  }

  head(status: number, rawHeaders: string[]): void {
    const length = headerValue(rawHeaders, "content-length");
    const holds = length === null ? !this.#asksStream : Number(length) <= MOST_HELD;
    if (status >= 300 || !holds || !isText(rawHeaders)) return this.#sink.head(status, rawHeaders);
    const until = length === null ? this.#clock.now() + LONGEST_HELD_MS : Number.POSITIVE_INFINITY;
    this.#held = { status, rawHeaders, body: new GatheredBytes(), until };
  }

  upgraded(rawHeaders: string[], upstream: Socket): void {
    this.#sink.upgraded?.(rawHeaders, upstream);
  }

  data(chunk: Buffer): boolean {
    const held = this.#held;
    if (held === null) return this.#sink.data(chunk);
    held.body.add(chunk);
    return (held.body.length <= MOST_HELD && this.#clock.now() < held.until) || this.#release();
  }

  end(outcome: ExchangeOutcome): void {
    if (outcome.ok) this.#release();
    this.#held = null;
    this.#sink.end(outcome);
  }

  /** False: the sink takes no more for now. */
  #release(): boolean {
    const held = this.#held;
    if (held === null) return true;
    this.#held = null;
    this.#sink.head(held.status, held.rawHeaders);
    return held.body.length === 0 || this.#sink.data(held.body.bytes());
  }
}

function isText(rawHeaders: readonly string[]): boolean {
  const type = headerValue(rawHeaders, "content-type") ?? "";
  return /^(?:application\/(?:[\w.-]+\+)?json|text\/[\w.-]+)\s*(?:;|$)/i.test(type) && !isEventStream(rawHeaders);
}
