import type { ExchangeFailure } from "./exchange-failure.ts";

export type ExchangeOutcome = { ok: true } | { ok: false; failure: ExchangeFailure };

/** Where an answer goes. `end` is called exactly once, last, whatever happens. */
export interface ExchangeSink {
  /** Status and raw headers, flat [name, value, ...] and unfiltered. */
  head(status: number, rawHeaders: string[]): void;
  /** One piece of the body, as it came. False: send no more until `resume()`. */
  data(chunk: Buffer): boolean;
  end(outcome: ExchangeOutcome): void;
}
