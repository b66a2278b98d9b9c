import { type Random, seededRandom } from "@farmgate/shared";

/** A source of chance of its own for the part `n` of what `seed` makes. */
export function chanceOf(seed: number, n: number): Random {
  return seededRandom(Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(n + 1, 0xc2b2ae35));
}

/** Mean 1. */
export function exponential(random: Random): number {
  return -Math.log(1 - random());
}

/** Mean 0, deviation 1 (Box and Muller; the second of each pair is not used). */
export function normal(random: Random): number {
  return Math.sqrt(2 * exponential(random)) * Math.cos(2 * Math.PI * random());
}

/** Scale 1. */
export function weibull(random: Random, shape: number): number {
  return exponential(random) ** (1 / shape);
}

/** Scale 1 (Marsaglia and Tsang 2000; below shape 1 from the draw for one more). */
export function gamma(random: Random, shape: number): number {
  if (shape < 1) return gamma(random, shape + 1) * (1 - random()) ** (1 / shape);
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = normal(random);
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(1 - random()) < x * x * 0.5 + d - d * v + d * Math.log(v)) return d * v;
  }
}

/** Half of them are below `median`; `sigma`: the deviation of their logarithm. Whole, from 1 to `most`. */
export interface LogNormal {
  median: number;
  sigma: number;
  most: number;
}

export function logNormal(random: Random, { median, sigma, most }: LogNormal): number {
  return Math.min(most, Math.max(1, Math.round(median * Math.exp(sigma * normal(random)))));
}
