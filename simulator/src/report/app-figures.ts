import { LogHistogram } from "./log-histogram.ts";
import type { ApplicationReport, Outcome } from "./types.ts";

/** What became of one application's requests. */
export class AppFigures {
  readonly #name: string;
  readonly #ttftLimit: number;
  readonly #tpotLimit: number;
  readonly #outcomes: Record<Outcome, number> = { done: 0, refused: 0, "timed-out": 0, failed: 0 };
  #requests = 0;
  #onTime = 0;
  readonly #ttft = new LogHistogram();
  readonly #tpot = new LogHistogram();
  readonly #wait = new LogHistogram();

  /** Limits in milliseconds. */
  constructor({ name, ttftMs, tpotMs }: { name: string; ttftMs: number; tpotMs: number }) {
    this.#name = name;
    this.#ttftLimit = ttftMs;
    this.#tpotLimit = tpotMs;
  }

  /** `hasTpot`: there was more than one token. Says whether it was on time. */
  ended(
    ttft: number,
    tpot: number,
    hasTpot: boolean,
    waited: number,
    outcome: Outcome,
    ttftLimit = this.#ttftLimit,
  ): boolean {
    this.#requests += 1;
    this.#outcomes[outcome] += 1;
    if (outcome !== "done") return false;
    this.#ttft.add(ttft);
    if (hasTpot) this.#tpot.add(tpot);
    this.#wait.add(waited);
    const isOnTime = ttft <= ttftLimit && tpot <= this.#tpotLimit;
    if (isOnTime) this.#onTime += 1;
    return isOnTime;
  }

  report(): ApplicationReport {
    return {
      name: this.#name,
      requests: this.#requests,
      onTime: this.#onTime,
      attainment: this.#requests === 0 ? null : this.#onTime / this.#requests,
      outcomes: { ...this.#outcomes },
      ttftMs: this.#ttft.percentiles(),
      tpotMs: this.#tpot.percentiles(),
      waitMs: this.#wait.percentiles(),
    };
  }
}
