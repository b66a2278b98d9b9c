/**
 * How alike two points are. All are variances but the lengths, in units of the standardised inputs and outputs:
 *
 *     k(x, x') = bias + signal exp(-1/2 sum_d ((x_d - x'_d) / length_d)^2),   plus noise / weight where x is x' itself
 *
 * The squared exponential, and `bias`: what the prior is off by everywhere, so that what was learned under one load
 * also helps under another. `bias` is fixed by the prior, all else is fitted.
 */
export interface Kernel {
  lengths: readonly number[];
  signal: number;
  noise: number;
  bias: number;
}

/** Of a model of which nothing is known yet. The prior's deviation is 1: half of its variance is common to all loads. */
export function firstKernel(dimensions: number): Kernel {
  return { lengths: Array.from({ length: dimensions }, () => 2), signal: 0.5, noise: 0.02, bias: 0.5 };
}

/** [log lengths..., log signal, log noise] */
export function logsOf(kernel: Kernel): number[] {
  return [...kernel.lengths, kernel.signal, kernel.noise].map(Math.log);
}

/** The inverse of `logsOf`. */
export function kernelOf(logs: readonly number[], bias: number): Kernel {
  const values = logs.map(Math.exp);
  const noise = values.pop() as number;
  const signal = values.pop() as number;
  return { lengths: values, signal, noise, bias };
}

export interface Bounds {
  low: number[];
  high: number[];
}

/**
 * Where the fit may go, as logarithms. A length of 0.15 is shorter than measurements are close, one of 30 means that the
 * input does not matter. Noise is a hundredth of the prior's deviation at least: no model of a machine is truer than that, and
 * the matrix stays well-conditioned.
 */
export function kernelBounds(dimensions: number): Bounds {
  const lengths = (value: number) => Array.from({ length: dimensions }, () => Math.log(value));
  return {
    low: [...lengths(0.15), Math.log(1e-4), Math.log(1e-4)],
    high: [...lengths(30), Math.log(30), Math.log(4)],
  };
}
