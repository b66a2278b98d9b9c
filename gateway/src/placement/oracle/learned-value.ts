import type { Random } from "@farmgate/shared";
import { DriftWatch, type DriftNotes, type Fitness } from "./drift.ts";
import { GaussianProcess, type Measures, type Point } from "./gaussian-process.ts";
import type { Kernel } from "./kernel.ts";
import type { Prediction } from "./types.ts";

/** How an Oracle learns; all have defaults. */
export interface LearningOptions {
  random: Random;
  /** Kept of each value of a model; 200. */
  maxPoints?: number;
  /** Measurements from one fit of the kernel to the next, once there are as many; before, at 8, 16, 32, ...; 100. */
  refitEvery?: number;
  /** The kernel is fitted to so many of the points at most; 80. */
  fitPoints?: number;
  /** Takes a fit that is due, which is long work, to run it later; absent: it runs at once. */
  fitLater?: (fit: () => void) => void;
}

/** What a value is taken for at an input before it is measured: a normal distribution. */
export type ValuePrior = (input: readonly number[]) => { mean: number; deviation: number };

/** All that has to outlive the program. `output` is the value as it was measured, apart from any prior. */
export interface LearnedNotes {
  kernel: Kernel;
  measures: Measures;
  points: readonly Point[];
  drift: DriftNotes;
}

/** Points closer than this, in deviations of the inputs, are one that was measured twice. */
const SAME = 0.05;
/** What a point weighs at most: the mean of so many measurements, then a moving one. */
const MAX_WEIGHT = 20;
/** Residuals in deviations up to which a measurement counts in full: while little is known, and then. */
const FIRST_CUT = 10;
const CUT = 4;
const FEW = 8;
/** Beyond so many deviations, a measurement is taken for one that is so far out. */
const FAR = 100;
/** Measurements remembered as they were; a drift is noticed within so many. */
const LATEST = 40;

/**
 * One value of one model, learned online. A measurement goes these ways:
 *
 * 1. Its residual is noted; when it drifts, all but the measurements that belong to what is now are dropped, and those
 *    count in full.
 * 2. How far it is out of what was expected tells its weight: up to `CUT` deviations 1, beyond (CUT / residual)^2, so that
 *    no single one can move the rest.
 * 3. When it was measured right there, the two are averaged by weight.
 * 4. When there are too many points, the older one of the nearest two goes: it is the one that the rest can best do
 *    without.
 * 5. Every so often, the kernel is fitted, or is to be.
 */
export class LearnedValue {
  readonly #process: GaussianProcess;
  readonly #prior: ValuePrior;
  readonly #options: Required<Omit<LearningOptions, "fitLater">> & Pick<LearningOptions, "fitLater">;
  readonly #drift: DriftWatch;
  readonly #latest: Point[] = [];
  /** Measurements that it stands on, averaged ones and all. */
  #known = 0;
  #sinceFit = 0;
  #awaitsFit = false;

  /** Throws nothing: notes that cannot be used are an empty start, see `isRestored`. */
  constructor(dimensions: number, prior: ValuePrior, options: LearningOptions, notes: LearnedNotes | null = null) {
    this.#prior = prior;
    this.#options = { maxPoints: 200, refitEvery: 100, fitPoints: 80, ...options };
    this.#process = new GaussianProcess(dimensions);
    const points = notes?.points
      .slice(-this.#options.maxPoints)
      .map((point) => ({ ...point, output: this.#standard(point) }));
    const isRestored = points !== undefined && this.#process.reset(points, notes?.kernel, notes?.measures);
    if (isRestored) this.#known = points.reduce((sum, { weight }) => sum + weight, 0);
    this.#drift = new DriftWatch(isRestored ? notes?.drift : undefined);
  }

  get fitness(): Fitness {
    return this.#drift.fitness;
  }

  /** Points that it stands on. */
  get size(): number {
    return this.#process.size;
  }

  get notes(): LearnedNotes {
    const points = this.#process.points.map((point) => ({ ...point, output: this.#measured(point) }));
    return { kernel: this.#process.kernel, measures: this.#process.measures, points, drift: this.#drift.notes };
  }

  predict(input: readonly number[]): Prediction {
    return this.predictAll([input])[0] as Prediction;
  }

  predictAll(inputs: readonly (readonly number[])[]): Prediction[] {
    const { inflation } = this.#drift;
    return this.#process.predictAll(inputs).map(({ mean, variance }, index) => {
      const prior = this.#prior(inputs[index] as readonly number[]);
      return {
        mean: prior.mean + prior.deviation * mean,
        variance: inflation * variance * prior.deviation * prior.deviation,
      };
    });
  }

  /** `input` and `output` finite; `weight`: how many measurements it stands for. */
  observe(input: readonly number[], output: number, weight = 1): void {
    const process = this.#process;
    const standard = this.#standard({ input, output });
    const expected = process.predict(input);
    const residual = (standard - expected.mean) / Math.sqrt(expected.variance);
    // 1
    const isKnown = this.#known >= FEW;
    const since = isKnown ? this.#drift.note(residual) : null;
    const most = FAR * Math.sqrt(expected.variance);
    const off = Math.min(Math.max(standard - expected.mean, -most), most);
    const point = { input, output: expected.mean + off, weight, scatter: 0 };
    this.#known += 1;
    this.#latest.push(point);
    if (this.#latest.length > LATEST) this.#latest.shift();
    if (since !== null) this.#keepLatest(since);
    // 2
    const cut = isKnown && this.#drift.fitness === "fits" ? CUT : FIRST_CUT;
    const trust = Math.abs(residual) <= cut ? 1 : (cut / residual) ** 2;
    // 3, 4
    if (since === null) this.#put({ ...point, weight: Math.max(weight * trust, 1e-6) });
    // 5
    this.#sinceFit += 1;
    const due = Math.max(FEW, Math.min(this.#known / 2, this.#options.refitEvery));
    if (this.#sinceFit >= due || since !== null) this.#fitSoon();
  }

  #fitSoon(): void {
    const { fitLater } = this.#options;
    if (fitLater === undefined) this.#fit();
    else if (!this.#awaitsFit) {
      this.#awaitsFit = true;
      fitLater(() => this.#fit());
    }
  }

  /** Fits the kernel now. */
  #fit(): void {
    const { random, fitPoints } = this.#options;
    this.#awaitsFit = false;
    this.#process.fit({ random, starts: this.#process.size < 40 ? 3 : 2, steps: 30, points: fitPoints });
    this.#sinceFit = 0;
  }

  #put(point: Point): void {
    const process = this.#process;
    const { index, distance } = this.#nearest(point.input);
    if (distance < SAME) {
      const old = process.points[index] as Point;
      process.remove(index);
      process.add(averaged(old, point));
      return;
    }
    if (process.size >= this.#options.maxPoints) process.remove(this.#leastNeeded());
    process.add(point);
  }

  /** As they were measured: in the points, they may be averaged with what was before. */
  #keepLatest(count: number): void {
    const kept = this.#latest.slice(-Math.max(count, FEW));
    this.#process.reset([]);
    for (const point of kept) this.#put(point);
    this.#known = kept.length;
  }

  #nearest(input: readonly number[]): { index: number; distance: number } {
    let nearest = { index: -1, distance: Infinity };
    for (const [index, point] of this.#process.points.entries()) {
      const distance = this.#distance(input, point.input);
      if (distance < nearest.distance) nearest = { index, distance };
    }
    return nearest;
  }

  #leastNeeded(): number {
    const { points } = this.#process;
    let least = 0;
    let closest = Infinity;
    for (let i = 0; i < points.length; i += 1) {
      for (let j = i + 1; j < points.length; j += 1) {
        const distance = this.#distance((points[i] as Point).input, (points[j] as Point).input);
        if (distance < closest) [least, closest] = [i, distance];
      }
    }
    return least;
  }

  #distance(a: readonly number[], b: readonly number[]): number {
    const { spread } = this.#process.measures;
    let square = 0;
    for (let d = 0; d < a.length; d += 1) {
      const apart = ((a[d] as number) - (b[d] as number)) / (spread[d] as number);
      square += apart * apart;
    }
    return Math.sqrt(square);
  }

  #standard({ input, output }: Pick<Point, "input" | "output">): number {
    const { mean, deviation } = this.#prior(input);
    return (output - mean) / deviation;
  }

  #measured({ input, output }: Point): number {
    const { mean, deviation } = this.#prior(input);
    return output * deviation + mean;
  }
}

function averaged(old: Point, point: Point): Point {
  const weight = old.weight + point.weight;
  const share = point.weight / weight;
  const off = point.output - old.output;
  const scatter = old.scatter + point.scatter + old.weight * share * off * off;
  const kept = Math.min(1, MAX_WEIGHT / weight);
  return {
    input: old.input.map((value, d) => value + share * ((point.input[d] as number) - value)),
    output: old.output + share * off,
    weight: weight * kept,
    scatter: scatter * kept,
  };
}
