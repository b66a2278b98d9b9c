import type { Resources } from "../oracle/types.ts";
import { type BinSpace, FREE, SHARED } from "./bin-space.ts";
import type { Layout } from "./layout.ts";

/** What is to be placed. */
export interface Item {
  id: string;
  span: number;
  demand: Resources;
  /** Per bin of the layout: 1 where it may go; null: anywhere. */
  allowed: Uint8Array | null;
}

export interface Place {
  first: number;
  /** With what is there; null: nothing is there. */
  cosine: number | null;
}

/** Is it taken out of the question, for a reason of the caller's? */
export type Excluded = (first: number) => boolean;

/** The best place beside others, else the best one of its own (see `bestShared`, `bestFree`); null: there is none. */
export function bestPlace(space: BinSpace, item: Item, excluded: Excluded = none): Place | null {
  return bestShared(space, item, excluded) ?? bestFree(space, item, excluded);
}

/**
 * Of the groups in use that have room for it, the one whose load is least like what the item takes: the smallest cosine
 * between the two, so that what one has left is what the other needs. Of equals the first.
 */
export function bestShared(space: BinSpace, item: Item, excluded: Excluded = none): Place | null {
  const { span, demand } = item;
  let best = -1;
  let least = Number.POSITIVE_INFINITY;
  for (const first of space.layout.groups(span)) {
    if (!space.isAll(first, span, (1 << FREE) | (1 << SHARED)) || space.isAll(first, span, 1 << FREE)) continue;
    if (!mayUse(item, first) || !space.fits(first, demand, span) || excluded(first)) continue;
    const cosine = cosineOf(space, first, demand, span);
    if (cosine >= least) continue;
    least = cosine;
    best = first;
  }
  return best < 0 ? null : { first: best, cosine: least };
}

/**
 * Of the free groups that have room for it, the one with the least memory; of equals one whose host has the fewest free
 * bins, so that whole hosts stay free for those that need neighbours; of those the first.
 */
export function bestFree(space: BinSpace, item: Item, excluded: Excluded = none): Place | null {
  const { span, demand } = item;
  const { layout } = space;
  const free = space.freeByHost();
  let best = -1;
  let least = Number.POSITIVE_INFINITY;
  for (const first of layout.groups(span)) {
    if (!space.isAll(first, span, 1 << FREE) || !mayUse(item, first) || !space.fits(first, demand, span)) continue;
    const memory = memoryOf(layout, first, span);
    const isBetter = memory < least || (memory === least && freeAt(layout, free, first) < freeAt(layout, free, best));
    if (!isBetter || excluded(first)) continue;
    least = memory;
    best = first;
  }
  return best < 0 ? null : { first: best, cosine: null };
}

/** Between what an item would take of a group and what is there, per dimension the most that one of its bins carries. */
function cosineOf(space: BinSpace, first: number, demand: Resources, span: number): number {
  let dot = 0;
  let ofItem = 0;
  let ofLoad = 0;
  for (let k = 0; k < 3; k += 1) {
    let takes = 0;
    let load = 0;
    for (let bin = first; bin < first + span; bin += 1) {
      takes = Math.max(takes, space.share(bin, k, demand, span));
      load = Math.max(load, space.load[3 * bin + k] ?? 0);
    }
    dot += takes * load;
    ofItem += takes * takes;
    ofLoad += load * load;
  }
  return ofItem === 0 || ofLoad === 0 ? 0 : dot / Math.sqrt(ofItem * ofLoad);
}

/** The greatest of its three shares of a bin of middling capacity. */
export function dominantShare({ mean }: Layout, { demand, span }: Item): number {
  const { memory, compute, bandwidth } = demand;
  const shares = [memory, compute, bandwidth].map((needed, k) => (needed <= 0 ? 0 : needed / span / (mean[k] ?? 0)));
  return Math.max(...shares);
}

export function mayUse({ allowed, span }: Item, first: number): boolean {
  if (allowed === null) return true;
  for (let bin = first; bin < first + span; bin += 1) if (allowed[bin] !== 1) return false;
  return true;
}

function memoryOf(layout: Layout, first: number, span: number): number {
  let memory = 0;
  for (let bin = first; bin < first + span; bin += 1) memory += layout.capacity[3 * bin] ?? 0;
  return memory;
}

function freeAt(layout: Layout, free: Int32Array, bin: number): number {
  return free[layout.hosts[bin] ?? 0] ?? 0;
}

const none = () => false;
