import { movingMean } from "@farmgate/shared";

/** Whether what an Oracle says is as far off as it says that it may be. */
export type Fitness = "fits" | "drifting" | "wrong";

/** Standardised residuals count up to this in the sums, so that one outlier is not a drift. */
const CLIP = 3;
/** How much of a residual is forgiven, and what the rest may sum up to: a true model gets there once in 10^6. */
const SLACK = 0.75;
const LIMIT = 10;
/** Of so many residuals, 10 % should be outside their 90 % interval; so many outside happen once in 10^5. */
const WINDOW = 30;
const OUTSIDE_LIMIT = 12;
/** It fits again when of so many no more are outside; the 99th percentile of the binomial. */
const TRIAL = 15;
const TRIAL_OUTSIDE = 4;
const NINETY_PERCENT = 1.645;
/** Deviations are so many times as large at least, from a drift until it fits again. */
const INFLATION = 2;
/** How fast it is learned that deviations are too small by nature. */
const CALIBRATION = 1 / 50;

/** What a watch remembers. */
export interface DriftNotes {
  fitness: Fitness;
  /** The latest standardised residuals, the oldest first. */
  residuals: readonly number[];
  /** Mean square of the residuals over a longer time, at least 1. */
  calibration: number;
}

/**
 * Watches the standardised residuals (measured - mean) / deviation of predictions, each made before the measurement was
 * learned. Where they are wider by nature, as a fit to few points makes them, that is learned too, slowly and not as a
 * drift: all deviations, and what a residual is measured by, grow with the root of their mean square. Then:
 *
 * 1. It drifts when either of the two sums of what exceeds `SLACK`, upwards and downwards, passes `LIMIT` (CUSUM), or
 *    `OUTSIDE_LIMIT` of the last `WINDOW` are outside their 90 % interval. Old points must go, and deviations are
 *    inflated: twice, or as the residuals since then show, whichever is more.
 * 2. When that happens again before it fits, it is wrong: better go without it.
 * 3. It fits again when of the `TRIAL` residuals since then at most `TRIAL_OUTSIDE` are outside.
 */
export class DriftWatch {
  #fitness: Fitness;
  #residuals: number[];
  #calibration: number;
  #up = 0;
  #down = 0;
  /** Residuals since the sum was zero: how long it is off, as well as can be told. */
  #upFor = 0;
  #downFor = 0;

  constructor({ fitness, residuals, calibration }: DriftNotes = { fitness: "fits", residuals: [], calibration: 1 }) {
    this.#calibration = calibration;
    this.#fitness = fitness;
    this.#residuals = residuals.slice(-WINDOW);
  }

  get fitness(): Fitness {
    return this.#fitness;
  }

  get notes(): DriftNotes {
    return { fitness: this.#fitness, residuals: [...this.#residuals], calibration: this.#calibration };
  }

  /** What variances are multiplied by. */
  get inflation(): number {
    if (this.#fitness === "fits") return this.#calibration;
    let squares = 0;
    for (const residual of this.#residuals) squares += Math.min(residual * residual, 100);
    const shown = this.#residuals.length === 0 ? 0 : squares / this.#residuals.length;
    return this.#calibration * Math.max(INFLATION ** 2, shown);
  }

  /** Takes note of a residual. A number: it drifts, and so many of the last measurements belong to what is now. */
  note(raw: number): number | null {
    const residual = raw / Math.sqrt(this.#calibration);
    const square = Math.min(raw * raw, CLIP * CLIP);
    this.#calibration = Math.max(1, movingMean(this.#calibration, square, CALIBRATION));
    this.#residuals.push(residual);
    if (this.#residuals.length > WINDOW) this.#residuals.shift();
    const clipped = Math.min(Math.max(residual, -CLIP), CLIP);
    this.#up = Math.max(0, this.#up + clipped - SLACK);
    this.#upFor = this.#up === 0 ? 0 : this.#upFor + 1;
    this.#down = Math.max(0, this.#down - clipped - SLACK);
    this.#downFor = this.#down === 0 ? 0 : this.#downFor + 1;
    const since = this.#offFor();
    if (since !== null) {
      // 1, 2
      this.#fitness = this.#fitness === "fits" ? "drifting" : "wrong";
      this.#residuals = [];
      this.#up = this.#down = this.#upFor = this.#downFor = 0;
      return since;
    }
    // 3
    const isTried = this.#fitness !== "fits" && this.#residuals.length >= TRIAL;
    if (isTried && outside(this.#residuals.slice(-TRIAL)) <= TRIAL_OUTSIDE) this.#fitness = "fits";
    return null;
  }

  #offFor(): number | null {
    if (this.#up > LIMIT) return this.#upFor;
    if (this.#down > LIMIT) return this.#downFor;
    return outside(this.#residuals) >= OUTSIDE_LIMIT ? TRIAL : null;
  }
}

function outside(residuals: readonly number[]): number {
  return residuals.filter((residual) => Math.abs(residual) > NINETY_PERCENT).length;
}
