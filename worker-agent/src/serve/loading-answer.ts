import type { Socket } from "node:net";
import { adapterFor } from "@farmgate/engines";
import { type Clock, isEventStream } from "@farmgate/shared";
import type { ExchangeOutcome, ExchangeSink } from "@farmgate/wire";

/** An answer that is longer says more than that a model is loading. Bytes. */
const LONGEST = 4_096;
/** One that has not ended by then is passed on, in milliseconds. */
const HELD_MS = 2_000;

/**
 * Stands before a sink and holds back an answer of 503 until it is read: an engine whose model was taken for ready too
 * early says "Loading model" (llama-server lists its model and listens before the weights are in). Such an answer is
 * not passed on, `onLoading` is called in place of `end`; any other passes as it is.
 */
export class LoadingAnswer implements ExchangeSink {
  readonly #sink: ExchangeSink;
  readonly #clock: Clock;
  readonly #onLoading: () => void;
  #held: { rawHeaders: string[]; pieces: Buffer[]; bytes: number; stopTimer: () => void } | null = null;

  constructor(sink: ExchangeSink, clock: Clock, onLoading: () => void) {
    this.#sink = sink;
    this.#clock = clock;
    this.#onLoading = onLoading;
  }

  head(status: number, rawHeaders: string[]): void {
    if (status !== 503 || isEventStream(rawHeaders)) return this.#sink.head(status, rawHeaders);
    const stopTimer = this.#clock.after(HELD_MS, () => this.#release());
    this.#held = { rawHeaders, pieces: [], bytes: 0, stopTimer };
  }

  upgraded(rawHeaders: string[], upstream: Socket): void {
    this.#sink.upgraded?.(rawHeaders, upstream);
  }

  data(chunk: Buffer): boolean {
    const held = this.#held;
    if (held === null) return this.#sink.data(chunk);
    held.pieces.push(chunk);
    held.bytes += chunk.length;
    if (held.bytes > LONGEST) this.#release();
    return true;
  }

  end(outcome: ExchangeOutcome): void {
    const held = this.#held;
    if (held !== null && outcome.ok) {
      if (saysLoading(Buffer.concat(held.pieces))) {
        held.stopTimer();
        return this.#onLoading();
      }
      this.#release();
    }
    held?.stopTimer();
    this.#sink.end(outcome);
  }

  #release(): void {
    const held = this.#held;
    if (held === null) return;
    this.#held = null;
    held.stopTimer();
    this.#sink.head(503, held.rawHeaders);
    for (const piece of held.pieces) this.#sink.data(piece);
  }
}

/** Which engine stands behind a swap script is not known; this is the one that has words for it. */
function saysLoading(body: Buffer): boolean {
  return adapterFor("llama-server").meaning({ status: 503, body: body.toString() }) === "loading";
}
