import type { Random } from "@farmgate/shared";
import { exponential } from "../draws.ts";
import type { BurstShape } from "./types.ts";

/** Rates are constant within so much time, in milliseconds. */
export const CELL_MS = 100;

/** Multiplies each cell's level with the factor of the bursts that it lies in, by how much of it does. */
export function addBursts(levels: Float64Array, { factor, meanMs, leastMs, gapMs }: BurstShape, random: Random): void {
  const durationMs = levels.length * CELL_MS;
  // At 0 one may be under way.
  let from = gapMs * exponential(random) - (random() < meanMs / (meanMs + gapMs) ? gapMs : 0);
  while (from < durationMs) {
    const to = from + leastMs + (meanMs - leastMs) * exponential(random);
    raise(levels, Math.max(0, from), Math.min(durationMs, to), factor);
    from = to + gapMs * exponential(random);
  }
}

/** Multiplies the levels from `from` up to `to`, in milliseconds. */
export function raise(levels: Float64Array, from: number, to: number, factor: number): void {
  for (let at = from; at < to; ) {
    const cell = Math.floor(at / CELL_MS);
    const end = Math.min(to, (cell + 1) * CELL_MS);
    levels[cell] = (levels[cell] ?? 0) * (1 + ((factor - 1) * (end - at)) / CELL_MS);
    // Adding what is left of a cell may round to nothing.
    at = end > at ? end : to;
  }
}

/**
 * As many arrivals as asked for, in order, that go with the levels: those of a Poisson process of that many, whose rate
 * follows them. `put` gets milliseconds.
 */
export function drawArrivals(levels: Float64Array, count: number, random: Random, put: (at: number) => void): void {
  const marks = new Float64Array(count);
  let sum = 0;
  for (let i = 0; i < count; i += 1) {
    sum += exponential(random);
    marks[i] = sum;
  }
  let total = 0;
  for (const level of levels) total += level;
  const scale = total / (sum + exponential(random));
  let cell = 0;
  let before = 0;
  for (let i = 0; i < count; i += 1) {
    const mark = (marks[i] ?? 0) * scale;
    while (cell < levels.length - 1 && before + (levels[cell] ?? 0) <= mark) {
      before += levels[cell] ?? 0;
      cell += 1;
    }
    const within = Math.min(1, (mark - before) / (levels[cell] || 1));
    put((cell + within) * CELL_MS);
  }
}
