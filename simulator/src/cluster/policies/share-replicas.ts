/**
 * Devices shared out in proportion to weights, in whole replicas, by largest remainder, at least one each.
 *
 * 1. Everyone gets the whole part of its share, and at least one replica.
 * 2. While that is more than there is, one is taken from whoever has most beyond its share; from those with one
 *    replica only when nobody has two, the widest of the least wanted first: these get nothing.
 * 3. What is left goes, replica by replica, to whoever is furthest below its share and fits.
 *
 * @param spans Devices of one replica.
 * @returns Replicas of each.
 */
export function shareReplicas(devices: number, spans: readonly number[], weights: readonly number[]): number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const shares = spans.map((span, i) => (total > 0 ? ((weights[i] ?? 0) / total) * (devices / span) : 0));
  // 1.
  const counts = shares.map((share) => Math.max(1, Math.floor(share)));
  let left = devices - counts.reduce((sum, count, i) => sum + count * (spans[i] ?? 0), 0);
  // 2.
  while (left < 0) {
    const several = counts.some((count) => count > 1);
    const loser = argMax(counts, (count, i) => {
      if (several) return count > 1 ? (count - (shares[i] ?? 0)) * (spans[i] ?? 0) : -Infinity;
      return count === 1 ? (spans[i] ?? 0) / Math.max(weights[i] ?? 0, Number.MIN_VALUE) : -Infinity;
    });
    counts[loser] = (counts[loser] ?? 0) - 1;
    left += spans[loser] ?? 0;
  }
  // 3.
  for (;;) {
    const winner = argMax(counts, (count, i) => ((spans[i] ?? 0) <= left ? (shares[i] ?? 0) - count : -Infinity));
    if ((spans[winner] ?? Infinity) > left) return counts;
    counts[winner] = (counts[winner] ?? 0) + 1;
    left -= spans[winner] ?? 0;
  }
}

function argMax(values: readonly number[], score: (value: number, i: number) => number): number {
  let best = 0;
  let most = -Infinity;
  for (const [i, value] of values.entries()) {
    const s = score(value, i);
    if (s > most) {
      best = i;
      most = s;
    }
  }
  return best;
}
