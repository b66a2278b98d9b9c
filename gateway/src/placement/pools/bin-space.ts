import type { Resources } from "../oracle/types.ts";
import type { Layout } from "./layout.ts";

/** What a bin is used for. `LEAVING`: by elastic replicas that drain, and by nothing else. `CLOSED`: not ours. */
export const FREE = 0;
export const SHARED = 1;
export const WHOLE = 2;
export const LEAVING = 3;
export const CLOSED = 4;

/** Sums of shares are not exact. */
const NEARLY = 1e-9;

/** What the bins carry. Loads are shares of each bin's own capacity, three a bin: memory, compute, bandwidth. */
export class BinSpace {
  readonly layout: Layout;
  readonly use: Uint8Array;
  readonly load: Float64Array;
  /** Replicas on the bin, of both pools, draining ones included. */
  readonly held: Int32Array;

  constructor(layout: Layout, from?: BinSpace) {
    const bins = layout.bins.length;
    this.layout = layout;
    this.use = from === undefined ? new Uint8Array(bins) : from.use.slice();
    this.load = from === undefined ? new Float64Array(3 * bins) : from.load.slice();
    this.held = from === undefined ? new Int32Array(bins) : from.held.slice();
  }

  copy(): BinSpace {
    return new BinSpace(this.layout, this);
  }

  /**
   * What a replica takes of one of its bins, as a share. A bin's time can be taken once at most: who needs more runs
   * slower, and alone. Its memory cannot.
   */
  share(bin: number, k: number, demand: Resources, span: number): number {
    const needed = (k === 0 ? demand.memory : k === 1 ? demand.compute : demand.bandwidth) / span;
    if (needed <= 0) return 0;
    const share = needed / (this.layout.capacity[3 * bin + k] ?? 0);
    return k > 0 && share > 1 ? 1 : share;
  }

  /** Adds what a replica takes; `sign` -1 takes it away. */
  put(bins: Iterable<number>, demand: Resources, span: number, sign: 1 | -1 = 1): void {
    for (const bin of bins) {
      this.held[bin] = (this.held[bin] ?? 0) + sign;
      const empty = this.held[bin] === 0;
      for (let k = 0; k < 3; k += 1) {
        const at = 3 * bin + k;
        // What is empty is exactly empty again.
        this.load[at] = empty ? 0 : (this.load[at] ?? 0) + sign * this.share(bin, k, demand, span);
      }
      if (empty && this.use[bin] !== CLOSED) this.use[bin] = FREE;
    }
  }

  /** As `put`, for a stable replica on a whole group. */
  putStable(first: number, demand: Resources, span: number): void {
    for (let bin = first; bin < first + span; bin += 1) this.use[bin] = SHARED;
    this.put(range(first, span), demand, span);
  }

  /** Whether one more replica stays within each bin of the group, in all three dimensions and in number. */
  fits(first: number, demand: Resources, span: number): boolean {
    for (let bin = first; bin < first + span; bin += 1) {
      if ((this.held[bin] ?? 0) >= (this.layout.bins[bin]?.maxModels ?? 0)) return false;
      for (let k = 0; k < 3; k += 1) {
        if ((this.load[3 * bin + k] ?? 0) + this.share(bin, k, demand, span) > 1 + NEARLY) return false;
      }
    }
    return true;
  }

  /** Whether its memory, and `spare` of each bin's, is free beside what is there: enough to start it. */
  startsBeside(first: number, demand: Resources, span: number, spare: number): boolean {
    for (let bin = first; bin < first + span; bin += 1) {
      if ((this.held[bin] ?? 0) >= (this.layout.bins[bin]?.maxModels ?? 0)) return false;
      if ((this.load[3 * bin] ?? 0) + this.share(bin, 0, demand, span) + spare > 1 + NEARLY) return false;
    }
    return true;
  }

  /** Whether every bin of the group is in one of these uses (a bit each: `1 << FREE | ...`). */
  isAll(first: number, span: number, uses: number): boolean {
    for (let bin = first; bin < first + span; bin += 1) if (((uses >> (this.use[bin] ?? 0)) & 1) === 0) return false;
    return true;
  }

  count(use: number): number {
    let bins = 0;
    for (const each of this.use) if (each === use) bins += 1;
    return bins;
  }

  /** Free bins of each host. */
  freeByHost(): Int32Array {
    const free = new Int32Array(this.layout.hostCount);
    for (let bin = 0; bin < this.use.length; bin += 1) {
      const host = this.layout.hosts[bin] ?? 0;
      if (this.use[bin] === FREE) free[host] = (free[host] ?? 0) + 1;
    }
    return free;
  }
}

export function range(first: number, span: number): readonly number[] {
  return Array.from({ length: span }, (_, next) => first + next);
}
