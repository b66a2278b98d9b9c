export function median(values: readonly number[]): number {
  if (values.length === 0) return Number.NaN;
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] as number;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2;
}

/** The median over the rounds of `figures` to `base` in the same round. */
export function medianRatio(figures: readonly number[], base: readonly number[]): number {
  return median(figures.map((figure, round) => figure / (base[round] ?? Number.NaN)));
}

/** The value below which that share (0 to 1) of the values lies, by the nearest rank. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}
