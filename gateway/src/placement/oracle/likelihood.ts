import { choleskyOf } from "./cholesky.ts";
import { type Kernel, kernelOf } from "./kernel.ts";
import type { Slope } from "./rprop.ts";

/** Points as arrays: `inputs` standardised, one after the other; the rest as in `Point`. */
export interface Points {
  size: number;
  dimensions: number;
  inputs: ArrayLike<number>;
  outputs: ArrayLike<number>;
  weights: ArrayLike<number>;
  scatters: ArrayLike<number>;
}

/** Before anything is measured, a length is about 2, the signal about 0.5 and the noise about 0.02, each within a factor. */
const EXPECTED = { length: [Math.log(2), 1], signal: [Math.log(0.5), 2], noise: [Math.log(0.02), 2.5] } as const;

/** By rows, with the noise. */
export function covariance(points: Points, kernel: Kernel): Float64Array {
  const { size, dimensions, inputs, weights } = points;
  const flat = new Float64Array(size * size);
  const scaled = new Float64Array(size * dimensions);
  for (let at = 0; at < scaled.length; at += 1) {
    scaled[at] = (inputs[at] as number) / (kernel.lengths[at % dimensions] as number);
  }
  for (let i = 0; i < size; i += 1) {
    for (let j = 0; j < i; j += 1) {
      let square = 0;
      for (let d = 0; d < dimensions; d += 1) {
        const apart = (scaled[i * dimensions + d] as number) - (scaled[j * dimensions + d] as number);
        square += apart * apart;
      }
      flat[i * size + j] = kernel.bias + kernel.signal * Math.exp(-square / 2);
      flat[j * size + i] = flat[i * size + j] as number;
    }
    flat[i * size + i] = kernel.bias + kernel.signal + kernel.noise / (weights[i] as number);
  }
  return flat;
}

/**
 * The logarithm of the likelihood that the kernel (`logs`, see `logsOf`) gives to the outputs, with what is expected of
 * kernels, and its slope:
 *
 *     -1/2 y' K^-1 y - sum log L_ii - n/2 log 2 pi,    slope along p: 1/2 tr((a a' - K^-1) dK/dp), a = K^-1 y
 *
 * and for each point that is the mean of w measurements what their scatter S says of the noise:
 *
 *     -(w - 1)/2 log (2 pi noise) - S / (2 noise)
 */
export function likelihood(points: Points, logs: readonly number[], bias: number): Slope {
  const { size, dimensions, outputs } = points;
  const kernel = kernelOf(logs, bias);
  const matrix = covariance(points, kernel);
  const lower = choleskyOf(matrix, size);
  const gradient = new Float64Array(logs.length);
  if (lower === null) return { value: -Infinity, gradient };
  const inverse = inverseOf(lower, size);
  const alpha = new Float64Array(size);
  let value = (-size / 2) * Math.log(2 * Math.PI);
  for (let i = 0; i < size; i += 1) {
    let sum = 0;
    for (let j = 0; j < size; j += 1) {
      sum += (inverse[i >= j ? i * size + j : j * size + i] as number) * (outputs[j] as number);
    }
    alpha[i] = sum;
    value -= (sum * (outputs[i] as number)) / 2 + Math.log(lower[i * size + i] as number);
  }
  addSlopes(gradient, points, kernel, matrix, inverse, alpha);
  for (let i = 0; i < size; i += 1) {
    const free = Math.max((points.weights[i] as number) - 1, 0);
    const scatter = (points.scatters[i] as number) / kernel.noise;
    value -= (free * Math.log(2 * Math.PI * kernel.noise) + scatter) / 2;
    gradient[dimensions + 1] = (gradient[dimensions + 1] as number) + (scatter - free) / 2;
  }
  for (let p = 0; p < logs.length; p += 1) {
    const [center, spread] = p < dimensions ? EXPECTED.length : p === dimensions ? EXPECTED.signal : EXPECTED.noise;
    const off = ((logs[p] as number) - center) / spread;
    value -= (off * off) / 2;
    gradient[p] = (gradient[p] as number) - off / spread;
  }
  return { value, gradient };
}

function addSlopes(
  gradient: Float64Array,
  { size, dimensions, inputs, weights }: Points,
  kernel: Kernel,
  flat: Float64Array,
  inverse: Float64Array,
  alpha: Float64Array,
): void {
  const perLength = kernel.lengths.map((length) => 1 / (length * length));
  let signal = 0;
  let noise = 0;
  for (let i = 0; i < size; i += 1) {
    const own = (alpha[i] as number) ** 2 - (inverse[i * size + i] as number);
    signal += (own * kernel.signal) / 2;
    noise += (own * kernel.noise) / (2 * (weights[i] as number));
    for (let j = 0; j < i; j += 1) {
      // Twice: above the diagonal it is the same.
      const pair = (alpha[i] as number) * (alpha[j] as number) - (inverse[i * size + j] as number);
      const both = pair * ((flat[i * size + j] as number) - kernel.bias);
      signal += both;
      for (let d = 0; d < dimensions; d += 1) {
        const apart = (inputs[i * dimensions + d] as number) - (inputs[j * dimensions + d] as number);
        gradient[d] = (gradient[d] as number) + both * apart * apart * (perLength[d] as number);
      }
    }
  }
  gradient[dimensions] = signal;
  gradient[dimensions + 1] = noise;
}

/**
 * The lower half of (L L')^-1. Column by column of L^-1, held as rows so that both loops run along memory.
 */
function inverseOf(lower: Float64Array, size: number): Float64Array {
  // columns[j * size + i] = (L^-1)[i][j], i >= j
  const columns = new Float64Array(size * size);
  for (let j = 0; j < size; j += 1) {
    columns[j * size + j] = 1 / (lower[j * size + j] as number);
    for (let i = j + 1; i < size; i += 1) {
      columns[j * size + i] = -dot(lower, i * size, columns, j * size, j, i) / (lower[i * size + i] as number);
    }
  }
  const inverse = new Float64Array(size * size);
  for (let i = 0; i < size; i += 1) {
    for (let j = 0; j <= i; j += 1) inverse[i * size + j] = dot(columns, i * size, columns, j * size, i, size);
  }
  return inverse;
}

/** The sum of a[aStart + k] b[bStart + k] over k from `from` to before `to`; four sums as in `Triangle.solveLower`. */
function dot(a: Float64Array, aStart: number, b: Float64Array, bStart: number, from: number, to: number): number {
  let s0 = 0;
  let s1 = 0;
  let s2 = 0;
  let s3 = 0;
  let k = from;
  for (; k + 3 < to; k += 4) {
    s0 += (a[aStart + k] as number) * (b[bStart + k] as number);
    s1 += (a[aStart + k + 1] as number) * (b[bStart + k + 1] as number);
    s2 += (a[aStart + k + 2] as number) * (b[bStart + k + 2] as number);
    s3 += (a[aStart + k + 3] as number) * (b[bStart + k + 3] as number);
  }
  for (; k < to; k += 1) s0 += (a[aStart + k] as number) * (b[bStart + k] as number);
  return s0 + s1 + (s2 + s3);
}
