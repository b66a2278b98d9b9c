import type { Clock } from "@farmgate/shared";
import type { ExchangeOutcome, ExchangeSink } from "./exchange-sink.ts";

/** How much of an answer that nobody wants any more is still read. 0: no limit of that kind; both 0: nothing is read. */
export interface DrainLimits {
  bytes: number;
  ms: number;
}

/** Takes the place of an exchange's sink whose caller has left: throws away what comes, and tells `cancelled` at last. */
export class Drain implements ExchangeSink {
  readonly #sink: ExchangeSink;
  readonly #stop: () => void;
  readonly #stopTimer: () => void;
  #bytesLeft: number;

  /** `stop` ends the exchange when a limit is reached. */
  constructor(sink: ExchangeSink, limits: DrainLimits, clock: Clock, stop: () => void) {
    this.#sink = sink;
    this.#stop = stop;
    this.#stopTimer = limits.ms === 0 ? () => {} : clock.after(limits.ms, stop);
    this.#bytesLeft = limits.bytes === 0 ? Number.POSITIVE_INFINITY : limits.bytes;
  }

  head(): void {}

  data(chunk: Buffer): boolean {
    this.#bytesLeft -= chunk.length;
    if (this.#bytesLeft <= 0) this.#stop();
    return true;
  }

  end(outcome: ExchangeOutcome): void {
    this.#stopTimer();
    const phase = outcome.ok ? "body" : outcome.failure.phase;
    this.#sink.end({ ok: false, failure: { phase, kind: "cancelled", reused: false, message: "cancelled" } });
  }
}
