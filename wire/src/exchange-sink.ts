import type { Socket } from "node:net";
import type { ExchangeFailure } from "./exchange-failure.ts";

export type ExchangeOutcome = { ok: true } | { ok: false; failure: ExchangeFailure };

/** Where an answer goes. `end` is called exactly once, last, whatever happens, but after `upgraded`. */
export interface ExchangeSink {
  /** Status and raw headers, flat [name, value, ...] and unfiltered. */
  head(status: number, rawHeaders: string[]): void;
  /**
   * The upstream has turned the connection into what was asked for (101): it is the sink's now, paused, and the exchange
   * has no part in it any more: no `end` follows. Absent: nothing is ever asked for.
   */
  upgraded?(rawHeaders: string[], upstream: Socket): void;
  /** One piece of the body, as it came. False: send no more until `resume()`. */
  data(chunk: Buffer): boolean;
  end(outcome: ExchangeOutcome): void;
}
