/**
 * Shares a whole number out by weights (largest remainder): the parts add up to it, each is its exact share rounded up
 * or down, and of equal remainders the earlier one gains. Whole numbers alone; weights are at least 1.
 */
export function shareOut(total: number, weights: readonly number[]): number[] {
  const whole = BigInt(total);
  const sum = weights.reduce((all, weight) => all + BigInt(weight), 0n);
  const parts = weights.map((weight) => Number((whole * BigInt(weight)) / sum));
  const remainders = weights.map((weight) => (whole * BigInt(weight)) % sum);
  const left = total - parts.reduce((all, part) => all + part, 0);
  const byRemainder = [...remainders.entries()].sort(([a, one], [b, other]) => compare(other, one) || a - b);
  for (const [i] of byRemainder.slice(0, left)) parts[i] = (parts[i] ?? 0) + 1;
  return parts;
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
