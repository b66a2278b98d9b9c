import type { Clock } from "@farmgate/shared";
import type { Log } from "@farmgate/wire";

const AGAIN_MS = 60_000;

/** One line when trouble begins and one when it ends, and no more of it for a minute. */
export class TroubleLog {
  readonly #clock: Clock;
  readonly #log: Log;
  #toldAt = Number.NEGATIVE_INFINITY;
  #isTold = false;
  readonly #begunAnew = new Set<string>();

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  began(trouble: string): void {
    if (this.#clock.now() - this.#toldAt < AGAIN_MS) return;
    this.#toldAt = this.#clock.now();
    this.#isTold = true;
    this.#log.warn(`${trouble}: this gateway goes by what it sees itself`);
  }

  /** Once for each key. */
  begunAnew(keys: readonly string[]): void {
    for (const key of keys) {
      if (this.#begunAnew.has(key)) continue;
      this.#begunAnew.add(key);
      this.#log.warn(`Redis: ${key} held what no gateway wrote there, and was begun anew`);
    }
  }

  ended(): void {
    if (!this.#isTold) return;
    this.#isTold = false;
    this.#log.info("the other gateways of the farm are heard again");
  }
}
