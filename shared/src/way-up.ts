/** A way over which the weights of a model can come to where they are wanted. */
export interface WayUp {
  /** Until what is on it now is through, in milliseconds; infinite: it is closed. */
  readonly waitMs: number;
  /** What it takes beside moving bytes, in milliseconds. */
  readonly constantMs: number;
  readonly bytes: number;
  readonly bytesPerSecond: number;
}

/** Milliseconds until the weights are there; not a finite number where nothing comes. */
export function throughMs({ waitMs, constantMs, bytes, bytesPerSecond }: WayUp): number {
  return waitMs + constantMs + (1_000 * bytes) / bytesPerSecond;
}

/**
 * The way by which the weights are there soonest: wait + constant + bytes / rate is least, of equals the first. null:
 * nothing comes over any of them. Allocates nothing: a simulation asks for each place where a model could go.
 */
export function cheapestWayUp<W extends WayUp>(ways: readonly W[]): W | null {
  let best: W | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const way of ways) {
    const ms = throughMs(way);
    if (!(ms < least)) continue;
    best = way;
    least = ms;
  }
  return best;
}
