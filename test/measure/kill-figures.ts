// What became of the requests around the death of a worker. Pure.

/** One request, as its caller saw it; times in milliseconds on one clock. */
export interface Seen {
  sentAt: number;
  /** NaN: no byte came. */
  firstByteAt: number;
  endedAt: number;
  status: number;
  /** Who answered; empty: nobody. */
  worker: string;
  /** Workers that were asked. */
  attempts: number;
  /** The answer is whole, by its own end. */
  whole: boolean;
  /** It ends with an error that says so. */
  told: boolean;
}

export interface Fall {
  requests: number;
  whole: number;
  /** Answers that another worker gave after the first had failed. */
  moved: number;
  /** No byte of an answer came: an error, or nothing. */
  lostBefore: number;
  /** Cut inside, and told. */
  cutTold: number;
  /** Cut inside, and not told. */
  cutUntold: number;
}

export function fallOf(all: readonly Seen[]): Fall {
  const cut = all.filter(({ whole, status }) => !whole && status === 200);
  return {
    requests: all.length,
    whole: all.filter(({ whole }) => whole).length,
    moved: all.filter(({ whole, attempts }) => whole && attempts > 1).length,
    lostBefore: all.filter(({ whole, status }) => !whole && status !== 200).length,
    cutTold: cut.filter(({ told }) => told).length,
    cutUntold: cut.filter(({ told }) => !told).length,
  };
}

/** When the last request was sent that was still put to the dead worker, counted from its death; 0: none. */
export function lastRoutedThere(all: readonly Seen[], worker: string, diedAt: number, backAt: number): number {
  const there = all.filter((seen) => {
    const isMeanwhile = seen.sentAt >= diedAt && seen.sentAt < backAt;
    return isMeanwhile && (seen.attempts > 1 || seen.status !== 200 || seen.worker === worker);
  });
  return Math.max(0, ...there.map(({ sentAt }) => sentAt - diedAt));
}

/** Requests that were answered whole only after the worker had come back: they had waited for it. */
export function waitedForReturn(all: readonly Seen[], worker: string, backAt: number): number {
  return all.filter((seen) => seen.whole && seen.worker === worker && seen.sentAt < backAt && seen.endedAt >= backAt)
    .length;
}

/** When the first request was sent that the worker answered after its return, counted from that; NaN: none. */
export function firstRoutedThere(all: readonly Seen[], worker: string, backAt: number): number {
  const there = all.filter((seen) => seen.worker === worker && seen.sentAt >= backAt);
  return there.length === 0 ? Number.NaN : Math.min(...there.map(({ sentAt }) => sentAt - backAt));
}
