/**
 * The exponentially weighted mean (EWMA) with one value more, which counts with `weight` (0 to 1). `before` null: it is
 * the first one.
 */
export function movingMean(before: number | null, value: number, weight: number): number {
  return before === null ? value : before + weight * (value - before);
}
