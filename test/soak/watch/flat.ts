// Whether what a process takes grows over a run. Pure.
import type { Sample } from "./sample.ts";

export interface Growth {
  /** The least that the heap held around the first quarter, and in the last one: what the collector leaves. Bytes. */
  early: number;
  late: number;
  isFlat: boolean;
}

/** What a heap may grow by all the same: by a share, and bytes. */
const SHARE = 0.25;
const BYTES = 12 * 1_024 ** 2;

/** `samples` of a run of `ms`; those after it do not count. */
export function heapGrowth(samples: readonly Sample[], ms: number): Growth {
  const early = leastHeap(samples, ms / 8, (ms * 3) / 8);
  const late = leastHeap(samples, (ms * 3) / 4, ms);
  return { early, late, isFlat: late <= early * (1 + SHARE) + BYTES };
}

/** The least heap of the samples of a span of time; NaN when there is none. */
export function leastHeap(samples: readonly Sample[], from: number, to: number): number {
  const heaps = samples.filter(({ at }) => at >= from && at <= to).map(({ heap }) => heap);
  return heaps.length === 0 ? Number.NaN : Math.min(...heaps);
}

/** The sample nearest to a moment. */
export function sampleAt(samples: readonly Sample[], at: number): Sample | undefined {
  return samples.toSorted((x, y) => Math.abs(x.at - at) - Math.abs(y.at - at))[0];
}
