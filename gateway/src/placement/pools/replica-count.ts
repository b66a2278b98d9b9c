import type { PoolRules } from "./rules.ts";
import type { ModelView } from "./types.ts";

/**
 * The smallest number of replicas, up to `most`, whose share on time is at least the target on the safe side: mean -
 * sigmas standard deviations. Where none reaches it: the smallest that comes within the slack of the best that was seen.
 *
 * The search begins at `from`, which was right a moment ago: it doubles its steps until it has the answer between two
 * numbers, and halves the gap between them. The answer was always asked for itself, so it meets the target even where
 * more replicas are predicted to do worse; it may then not be the smallest.
 */
export function smallestCount(line: ModelView, most: number, from: number, rules: PoolRules): number {
  let best = 0;
  const asked = new Map<number, number>();
  const safeShare = (replicas: number): number => {
    const known = asked.get(replicas);
    if (known !== undefined) return known;
    const { mean, variance } = line.onTime(replicas);
    const share = mean - rules.sigmas * Math.sqrt(Math.max(0, variance));
    // What cannot be predicted is no reason to take every bin.
    const safe = Number.isNaN(share) ? 0 : share;
    asked.set(replicas, safe);
    best = Math.max(best, safe);
    return safe;
  };
  const start = Math.min(most, Math.max(1, from));
  const met = smallestThat((replicas) => safeShare(replicas) >= rules.target, most, start);
  return met ?? smallestThat((replicas) => safeShare(replicas) >= best - rules.slack, most, start) ?? 1;
}

/** A number from 1 to `most` for which it holds, the smallest where it goes on holding above; null: none was found. */
export function smallestThat(holds: (count: number) => boolean, most: number, start: number): number | null {
  let no = 0;
  let yes = start;
  if (holds(start)) {
    for (let step = 1; yes > 1; step *= 2) {
      const lower = Math.max(1, yes - step);
      if (!holds(lower)) {
        no = lower;
        break;
      }
      yes = lower;
    }
  } else {
    no = start;
    for (let step = 1; ; step *= 2) {
      if (no >= most) return null;
      yes = Math.min(most, no + step);
      if (holds(yes)) break;
      no = yes;
    }
  }
  while (yes - no > 1) {
    const middle = (yes + no) >> 1;
    if (holds(middle)) yes = middle;
    else no = middle;
  }
  return yes;
}
