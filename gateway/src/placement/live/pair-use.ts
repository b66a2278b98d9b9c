import type { Spans } from "./model-figures.ts";
import { WindowSums } from "./window-sums.ts";

/** Tokens of one answer and how long they took, in milliseconds; null: not known. */
export interface PairAnswer {
  input: number | null;
  /** To its first byte, of a stream that found the model loaded. */
  inputMs: number | null;
  output: number | null;
  /** From its first byte to its last. */
  outputMs: number | null;
  /** Its first byte came within its time; null: there is no telling. */
  onTime: boolean | null;
}

/** Shares of all that the worker can do with the model, as far as was ever seen: 0 to 1. */
export interface PairShares {
  compute: number;
  bandwidth: number;
}

/** Fewer tokens, or less time, say little about a rate. */
const LEAST = { tokens: 16, ms: 10 };
/** The fastest rate fades by each answer, so that one odd figure does not stand for ever. */
const FADE = 0.999;
const INPUT = 0;
const OUTPUT = 1;
const SLOTS = 30;
/** For so long it counts what was on time, in milliseconds. */
const JUDGED_MS = 3_600_000;
const JUDGED_SLOTS = 12;
const JUDGED = 0;
const ON_TIME = 1;

/** How fast one worker is with one model, and how much of that is used. Rates in tokens a second. */
export class PairUse {
  readonly #window: WindowSums;
  readonly #hour = new WindowSums(2, JUDGED_MS / JUDGED_SLOTS, JUDGED_SLOTS);
  #answeredAt = Number.NEGATIVE_INFINITY;
  #fastestInput: number | null = null;
  #fastestOutput: number | null = null;
  #fastestAnswer: number | null = null;

  constructor({ heatMs }: Spans) {
    this.#window = new WindowSums(2, heatMs / SLOTS, SLOTS);
  }

  /** The fastest seen; null: none was. */
  get inputRate(): number | null {
    return this.#fastestInput;
  }

  get outputRate(): number | null {
    return this.#fastestOutput;
  }

  /** Of one answer by itself. */
  get answerRate(): number | null {
    return this.#fastestAnswer;
  }

  get answeredAt(): number {
    return this.#answeredAt;
  }

  /** Over the last hour. */
  judged(now: number): { share: number; requests: number } {
    const requests = this.#hour.sum(JUDGED, JUDGED_MS, now);
    return { requests, share: requests === 0 ? 1 : this.#hour.sum(ON_TIME, JUDGED_MS, now) / requests };
  }

  answered({ input, inputMs, output, outputMs, onTime }: PairAnswer, now: number): void {
    this.#answeredAt = now;
    if (onTime !== null) this.#hour.add(JUDGED, 1, now);
    if (onTime === true) this.#hour.add(ON_TIME, 1, now);
    if (input !== null) this.#window.add(INPUT, input, now);
    if (output !== null) this.#window.add(OUTPUT, output, now);
    this.#fastestInput = faster(this.#fastestInput, rateOf(input, inputMs));
    // Several answers at once are faster together than one.
    this.#fastestAnswer = faster(this.#fastestAnswer, rateOf(output, outputMs));
    const together = this.#window.sum(OUTPUT, this.#window.lengthMs, now) / (this.#window.lengthMs / 1_000);
    this.#fastestOutput = faster(this.#fastestOutput, Math.max(this.#fastestAnswer ?? 0, together) || null);
  }

  /** Of late. A rate that was never seen makes no share. */
  shares(now: number): PairShares {
    const seconds = this.#window.lengthMs / 1_000;
    const share = (field: number, fastest: number | null) =>
      fastest === null ? 0 : Math.min(1, this.#window.sum(field, this.#window.lengthMs, now) / seconds / fastest);
    return { compute: share(INPUT, this.#fastestInput), bandwidth: share(OUTPUT, this.#fastestOutput) };
  }
}

function rateOf(tokens: number | null, ms: number | null): number | null {
  if (tokens === null || ms === null || tokens < LEAST.tokens || ms < LEAST.ms) return null;
  return tokens / (ms / 1_000);
}

function faster(fastest: number | null, rate: number | null): number | null {
  if (rate === null) return fastest;
  return fastest === null ? rate : Math.max(rate, fastest * FADE);
}
