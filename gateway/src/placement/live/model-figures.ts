import type { ModelLoad } from "../oracle/types.ts";
import { WindowSums } from "./window-sums.ts";

/** How long what was observed counts, in milliseconds: for the rate now, for heat, and for the stable pool. */
export interface Spans {
  rateMs: number;
  heatMs: number;
  stableMs: number;
}

/** A request that was answered, or was not by no fault of its caller's. */
export interface EndedRequest {
  /** Tokens, as its engine counted them or as its bytes tell; null: not known. */
  input: number | null;
  output: number | null;
  /** Its first byte came within its time; null: no time was set for it, or there is no telling. */
  onTime: boolean | null;
}

const FIELD = {
  asked: 0,
  inputs: 1,
  input: 2,
  inputSquares: 3,
  outputs: 4,
  output: 5,
  outputSquares: 6,
  judged: 7,
  onTime: 8,
};
const FIELDS = 9;
const SHORT_SLOTS = 30;
const LONG_SLOTS = 30;
/** For so long it is remembered how a model was served, to tell what an action brought; milliseconds. */
const JUDGED_MS = 3_600_000;
const JUDGED_SLOTS = 12;
/** How much the newest prompt counts for the usual one. */
const WEIGHT = 0.05;

/** How one model is asked and served. */
export class ModelFigures {
  readonly #spans: Spans;
  readonly #short: WindowSums;
  readonly #long: WindowSums;
  readonly #hour = new WindowSums(2, JUDGED_MS / JUDGED_SLOTS, JUDGED_SLOTS);
  readonly #judged = { requests: 0, onTime: 0 };
  #usualInput: number | null = null;
  readonly #since: number;
  #askedAt: number;

  constructor(spans: Spans, now: number) {
    this.#spans = spans;
    this.#short = new WindowSums(FIELDS, spans.heatMs / SHORT_SLOTS, SHORT_SLOTS);
    this.#long = new WindowSums(FIELDS, spans.stableMs / LONG_SLOTS, LONG_SLOTS);
    this.#since = now;
    this.#askedAt = now;
  }

  /** When it was last asked for. */
  get askedAt(): number {
    return this.#askedAt;
  }

  asked(now: number): void {
    this.#askedAt = now;
    this.#add(FIELD.asked, 1, now);
  }

  ended({ input, output, onTime }: EndedRequest, now: number): void {
    if (input !== null) {
      this.#usualInput = this.#usualInput === null ? input : this.#usualInput + WEIGHT * (input - this.#usualInput);
      this.#add(FIELD.inputs, 1, now);
      this.#add(FIELD.input, input, now);
      this.#add(FIELD.inputSquares, input * input, now);
    }
    if (output !== null) {
      this.#add(FIELD.outputs, 1, now);
      this.#add(FIELD.output, output, now);
      this.#add(FIELD.outputSquares, output * output, now);
    }
    if (onTime === null) return;
    this.#add(FIELD.judged, 1, now);
    if (onTime) this.#add(FIELD.onTime, 1, now);
    this.#judged.requests += 1;
    this.#judged.onTime += Number(onTime);
    this.#hour.add(0, 1, now);
    this.#hour.add(1, Number(onTime), now);
  }

  /** Tokens of a prompt on average, the last ones before all, however long ago; null: none is known. */
  get usualInput(): number | null {
    return this.#usualInput;
  }

  /** All that were judged so far. */
  get judged(): { requests: number; onTime: number } {
    return { ...this.#judged };
  }

  /** The share that was on time over the last hour; null: none was judged. */
  lastHour(now: number): { share: number; requests: number } | null {
    const requests = this.#hour.sum(0, JUDGED_MS, now);
    return requests === 0 ? null : { share: this.#hour.sum(1, JUDGED_MS, now) / requests, requests };
  }

  /** How it is asked now, or was of late if that is more: what comes in bursts is not over between two of them. */
  loadNow(now: number): ModelLoad {
    const load = this.#load(this.#spans.rateMs, now);
    const ofLate = this.loadOfLate(now);
    return ofLate.requestsPerSecond > load.requestsPerSecond ? ofLate : load;
  }

  /** How it was asked over the time of heat. */
  loadOfLate(now: number): ModelLoad {
    return this.#load(this.#spans.heatMs, now);
  }

  /** How it was asked over the time that counts for the stable pool. */
  steadyLoad(now: number): ModelLoad {
    return this.#load(this.#spans.stableMs, now);
  }

  /** Tokens a second of late, in and out. What is asked for counts, not what was served: a queue makes no model cold. */
  heat(now: number): number {
    const { requestsPerSecond, inputMean, outputMean } = this.loadOfLate(now);
    return requestsPerSecond * (inputMean + outputMean);
  }

  /** The share that was on time over the time of heat, and of how many requests; null: of none that is known. */
  onTime(now: number): { share: number; requests: number } | null {
    const requests = this.#short.sum(FIELD.judged, this.#spans.heatMs, now);
    if (requests === 0) return null;
    return { share: this.#short.sum(FIELD.onTime, this.#spans.heatMs, now) / requests, requests };
  }

  /** Nothing was asked of it within the longest time. */
  isIdle(now: number): boolean {
    return this.#long.sum(FIELD.asked, this.#spans.stableMs, now) === 0;
  }

  #add(field: number, value: number, now: number): void {
    this.#short.add(field, value, now);
    this.#long.add(field, value, now);
  }

  /** Lengths are those of the longest time where none ended within this one. */
  #load(ms: number, now: number): ModelLoad {
    const sums = ms <= this.#short.lengthMs ? this.#short : this.#long;
    const seconds = Math.max(this.#spans.rateMs, Math.min(ms, now - this.#since)) / 1_000;
    const input = this.#moments(FIELD.inputs, FIELD.input, FIELD.inputSquares, now);
    const output = this.#moments(FIELD.outputs, FIELD.output, FIELD.outputSquares, now);
    return {
      requestsPerSecond: sums.sum(FIELD.asked, ms, now) / seconds,
      inputMean: input.mean,
      inputVariance: input.variance,
      outputMean: output.mean,
      outputVariance: output.variance,
    };
  }

  #moments(count: number, sum: number, squares: number, now: number): { mean: number; variance: number } {
    const { heatMs, stableMs } = this.#spans;
    const isRecent = this.#short.sum(count, heatMs, now) > 0;
    const of = (field: number) =>
      isRecent ? this.#short.sum(field, heatMs, now) : this.#long.sum(field, stableMs, now);
    const n = of(count);
    if (n === 0) return { mean: 0, variance: 0 };
    const mean = of(sum) / n;
    return { mean, variance: Math.max(0, of(squares) / n - mean * mean) };
  }
}
