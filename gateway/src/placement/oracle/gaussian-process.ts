import type { Random } from "@farmgate/shared";
import { choleskyOf } from "./cholesky.ts";
import { firstKernel, type Kernel, kernelBounds, kernelOf, logsOf } from "./kernel.ts";
import { covariance, likelihood, type Points } from "./likelihood.ts";
import { climb } from "./rprop.ts";
import { Triangle } from "./triangle.ts";
import type { Prediction } from "./types.ts";

/** A measured point: `input` raw, `output` with 0 and 1 as the prior's mean and deviation. */
export interface Point {
  input: readonly number[];
  output: number;
  /** Measurements that it stands for: so much less is its noise. Below 1: it is trusted less than one. */
  weight: number;
  /** The squares of how far those were from their mean, summed up. */
  scatter: number;
}

export interface FitEffort {
  random: Random;
  /** Places that the climb begins from: the kernel as it is, then by chance. */
  starts: number;
  steps: number;
  /** The kernel is fitted to so many points at most, evenly taken: the time goes with the cube. */
  points: number;
}

/** What inputs are standardised by. */
export interface Measures {
  center: readonly number[];
  spread: readonly number[];
}

/** Inputs that vary by less count as the same; they are logarithms. */
const LEAST_SPREAD = 0.25;

/**
 * An exact Gaussian process. A point is added or taken out in O(n^2) without a fit; a fit standardises the inputs anew and
 * climbs the likelihood of the kernel. Points are in the order of their arrival.
 *
 * What it says of a place outside the range of its points: the mean is that of the nearest place inside, the variance that
 * of the place itself. So the mean cannot run away, and it is told that nobody has been there.
 */
export class GaussianProcess {
  readonly dimensions: number;
  #kernel: Kernel;
  #points: Point[] = [];
  #measures: Measures;
  readonly #low: Float64Array;
  readonly #high: Float64Array;
  /** Standardised and divided by the kernel's lengths, one point after the other. */
  #scaled = new Float64Array(0);
  readonly #triangle = new Triangle();
  /** K^-1 y; null: to be worked out. */
  #alpha: Float64Array | null = null;

  constructor(dimensions: number, kernel: Kernel = firstKernel(dimensions)) {
    this.dimensions = dimensions;
    this.#kernel = kernel;
    this.#measures = measuresOf([], dimensions);
    this.#low = new Float64Array(dimensions).fill(Infinity);
    this.#high = new Float64Array(dimensions).fill(-Infinity);
  }

  get size(): number {
    return this.#points.length;
  }

  get points(): readonly Point[] {
    return this.#points;
  }

  get kernel(): Kernel {
    return this.#kernel;
  }

  get measures(): Measures {
    return this.#measures;
  }

  /** Adds one point to the factor. */
  add(point: Point): void {
    const { size, dimensions } = this;
    if (size === 0) this.#measures = measuresOf([point], dimensions);
    this.#reserve(size + 1);
    this.#scale(point.input, this.#scaled, size * dimensions);
    const covariances = new Float64Array(size);
    this.#covariances(this.#scaled.subarray(size * dimensions, (size + 1) * dimensions), covariances, 0, 1);
    const { bias, signal, noise } = this.#kernel;
    this.#triangle.append(covariances, bias + signal + noise / point.weight);
    this.#points.push(point);
    this.#widen(point.input);
    this.#alpha = null;
  }

  /** Takes one point out of the factor. The range that inputs are clamped to stays until the next fit. */
  remove(at: number): void {
    const { dimensions } = this;
    this.#triangle.remove(at);
    this.#scaled.copyWithin(at * dimensions, (at + 1) * dimensions, this.size * dimensions);
    this.#points.splice(at, 1);
    this.#alpha = null;
  }

  /** Puts these points in the place of all; false: it cannot be done in the numbers that there are. */
  reset(
    points: readonly Point[],
    kernel: Kernel = this.#kernel,
    measures: Measures = measuresOf(points, this.dimensions),
  ): boolean {
    const { dimensions } = this;
    const lower =
      points.length > 0
        ? choleskyOf(covariance(standardised(points, measures), kernel), points.length)
        : new Float64Array(0);
    if (lower === null) return false;
    this.#kernel = kernel;
    this.#measures = measures;
    this.#points = [...points];
    this.#triangle.set(lower, points.length);
    this.#reserve(points.length);
    this.#low.fill(Infinity);
    this.#high.fill(-Infinity);
    for (const [index, { input }] of points.entries()) {
      this.#scale(input, this.#scaled, index * dimensions);
      this.#widen(input);
    }
    this.#alpha = null;
    return true;
  }

  /** Fits the kernel to the points by their likelihood. Without a better one, all stays. */
  fit({ random, starts, steps, points: most }: FitEffort): void {
    if (this.size === 0) return;
    const stride = Math.max(1, this.size / most);
    const sample = Array.from({ length: Math.min(this.size, most) }, (_, i) => this.#points[Math.floor(i * stride)]);
    const standard = standardised(sample as Point[], measuresOf(sample as Point[], this.dimensions));
    const bounds = kernelBounds(this.dimensions);
    const { bias } = this.#kernel;
    let best = { at: logsOf(this.#kernel), value: -Infinity };
    for (let start = 0; start < starts; start += 1) {
      // Lengths from 0.5 to 5, signals and noises around the first ones: all that was found good lies in between.
      const chance = () => logsOf(firstKernel(this.dimensions)).map((log) => log + (2 * random() - 1) * 1.5);
      const from = start === 0 ? best.at : chance();
      const found = climb((logs) => likelihood(standard, logs, bias), from, bounds, steps);
      if (found.value > best.value) best = found;
    }
    this.reset(this.#points, kernelOf(best.at, bias));
  }

  /** Of what would be measured there: the noise of one measurement is in the variance. */
  predict(input: readonly number[]): Prediction {
    const [only] = this.predictAll([input]);
    return only as Prediction;
  }

  /** The same for several places; four at a time cost little more than one. */
  predictAll(inputs: readonly (readonly number[])[]): Prediction[] {
    const { size, dimensions } = this;
    const { bias, signal, noise } = this.#kernel;
    const alpha = this.#solved();
    const wide = inputs.length === 1 ? 1 : 4;
    const columns = new Float64Array(size * wide);
    const inside = new Float64Array(size);
    const place = new Float64Array(dimensions);
    const predictions: Prediction[] = [];
    for (let first = 0; first < inputs.length; first += wide) {
      const count = Math.min(wide, inputs.length - first);
      for (let r = 0; r < count; r += 1) {
        const input = inputs[first + r] as readonly number[];
        this.#scale(input, place, 0);
        this.#covariances(place, columns, r, wide);
        let mean = 0;
        if (size > 0 && this.#scaleClamped(input, place)) {
          this.#covariances(place, inside, 0, 1);
          for (let i = 0; i < size; i += 1) mean += (inside[i] as number) * (alpha[i] as number);
        } else {
          for (let i = 0; i < size; i += 1) mean += (columns[i * wide + r] as number) * (alpha[i] as number);
        }
        predictions.push({ mean, variance: 0 });
      }
      if (wide === 1) this.#triangle.solveLower(columns);
      else this.#triangle.solveLowerFour(columns);
      for (let r = 0; r < count; r += 1) {
        let known = 0;
        for (let i = 0; i < size; i += 1) known += (columns[i * wide + r] as number) ** 2;
        (predictions[first + r] as Prediction).variance = Math.max(bias + signal - known, 0) + noise;
      }
    }
    return predictions;
  }

  #solved(): Float64Array {
    if (this.#alpha === null) {
      this.#alpha = Float64Array.from(this.#points, ({ output }) => output);
      this.#triangle.solveLower(this.#alpha);
      this.#triangle.solveUpper(this.#alpha);
    }
    return this.#alpha;
  }

  #scale(input: readonly number[], to: Float64Array, start: number): void {
    const { center, spread } = this.#measures;
    for (let d = 0; d < this.dimensions; d += 1) {
      const measure = (spread[d] as number) * (this.#kernel.lengths[d] as number);
      to[start + d] = ((input[d] as number) - (center[d] as number)) / measure;
    }
  }

  /** False, and `to` is as it was: the place is inside the range. */
  #scaleClamped(input: readonly number[], to: Float64Array): boolean {
    const { center, spread } = this.#measures;
    let outside = false;
    for (let d = 0; d < this.dimensions; d += 1) {
      const value = input[d] as number;
      const clamped = Math.min(Math.max(value, this.#low[d] as number), this.#high[d] as number);
      if (clamped === value) continue;
      outside = true;
      const measure = (spread[d] as number) * (this.#kernel.lengths[d] as number);
      to[d] = (clamped - (center[d] as number)) / measure;
    }
    return outside;
  }

  /** Of the place with all points, into `to[i * step + first]`. */
  #covariances(place: Float64Array, to: Float64Array, first: number, step: number): void {
    const { dimensions } = this;
    const { bias, signal } = this.#kernel;
    const scaled = this.#scaled;
    const size = this.#triangle.size;
    for (let i = 0, at = 0; i < size; i += 1) {
      let square = 0;
      for (let d = 0; d < dimensions; d += 1, at += 1) {
        const apart = (scaled[at] as number) - (place[d] as number);
        square += apart * apart;
      }
      to[i * step + first] = bias + signal * Math.exp(-square / 2);
    }
  }

  #widen(input: readonly number[]): void {
    for (let d = 0; d < this.dimensions; d += 1) {
      const value = input[d] as number;
      if (value < (this.#low[d] as number)) this.#low[d] = value;
      if (value > (this.#high[d] as number)) this.#high[d] = value;
    }
  }

  #reserve(size: number): void {
    const needed = size * this.dimensions;
    if (this.#scaled.length >= needed) return;
    const larger = new Float64Array(Math.max(needed, 2 * this.#scaled.length));
    larger.set(this.#scaled);
    this.#scaled = larger;
  }
}

function measuresOf(points: readonly Point[], dimensions: number): Measures {
  const center = Array.from({ length: dimensions }, () => 0);
  const spread = Array.from({ length: dimensions }, () => 1);
  if (points.length === 0) return { center, spread };
  for (let d = 0; d < dimensions; d += 1) {
    let sum = 0;
    for (const { input } of points) sum += input[d] as number;
    const mean = sum / points.length;
    let squares = 0;
    for (const { input } of points) squares += ((input[d] as number) - mean) ** 2;
    center[d] = mean;
    if (points.length > 1) spread[d] = Math.max(Math.sqrt(squares / points.length), LEAST_SPREAD);
  }
  return { center, spread };
}

function standardised(points: readonly Point[], { center, spread }: Measures): Points {
  const dimensions = center.length;
  const inputs = new Float64Array(points.length * dimensions);
  for (const [index, { input }] of points.entries()) {
    for (let d = 0; d < dimensions; d += 1) {
      inputs[index * dimensions + d] = ((input[d] as number) - (center[d] as number)) / (spread[d] as number);
    }
  }
  const outputs = Float64Array.from(points, ({ output }) => output);
  const weights = Float64Array.from(points, ({ weight }) => weight);
  const scatters = Float64Array.from(points, ({ scatter }) => scatter);
  return { size: points.length, dimensions, inputs, outputs, weights, scatters };
}
