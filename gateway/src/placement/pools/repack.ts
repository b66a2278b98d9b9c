import { type BinSpace, SHARED } from "./bin-space.ts";
import { bestFree, bestShared, dominantShare } from "./packing.ts";
import type { PotentialWeights } from "./rules.ts";
import { type Movable, Trial } from "./trial.ts";

/** How the bins are without the replicas that are told to go, and with them. */
export interface Spaces {
  space: BinSpace;
  meanwhile: BinSpace;
}

export interface Repack {
  moves: readonly { movable: Movable; to: number }[];
  /** With the old copies gone. */
  before: number;
  after: number;
}

/**
 * A better place for all, or null where none is better:
 *
 * 1. Shifted: 1a. what bins carry above their capacity goes elsewhere, the smallest replicas first; 1b. each bin, that
 *    with the fewest bytes first, is emptied into the others in use where that lowers the potential.
 * 2. Anew: all are placed again from nothing, by decreasing dominant share, each in the place that complements it best; a
 *    bin is opened only when none in use has room, its own before any other.
 * 3. The one with the lower potential, if that is below what it is now. No place counts on room that is made by a move of
 *    the same repack, since the new copy starts before the old one goes.
 */
export function repackAll(
  { space, meanwhile }: Spaces,
  movables: readonly Movable[],
  weights: PotentialWeights,
): Repack | null {
  // 1
  const shifted = new Trial(space, meanwhile, weights);
  relieve(shifted, movables);
  const rest = movables.filter((each) => !shifted.hasMoved(each));
  for (const bin of binsByBytes(rest)) emptyBin(shifted, bin, rest);
  // 2
  const anew = placedAnew(new Trial(space, meanwhile, weights), movables);
  // 3
  const best = anew !== null && anew.potential() < shifted.potential() ? anew : shifted;
  return accepted(best);
}

/** As `repackAll`, of one bin: empties it into the others in use. */
export function repackBin(
  { space, meanwhile }: Spaces,
  bin: number,
  movables: readonly Movable[],
  weights: PotentialWeights,
): Repack | null {
  const trial = new Trial(space, meanwhile, weights);
  emptyBin(trial, bin, movables);
  return accepted(trial);
}

/** The least of the three loads of a bin as a share of the greatest: 1 where all are used alike, 0 where one is not. */
export function balanceOf(space: BinSpace, bin: number): number {
  const loads = [...space.load.subarray(3 * bin, 3 * bin + 3)];
  const greatest = Math.max(...loads);
  return greatest === 0 ? 1 : Math.min(...loads) / greatest;
}

const NOTICEABLE = 1e-9;

function accepted(trial: Trial): Repack | null {
  const after = trial.potential();
  return after < trial.before - NOTICEABLE ? { moves: trial.moves, before: trial.before, after } : null;
}

function relieve(trial: Trial, movables: readonly Movable[]): void {
  for (let bin = 0; bin < trial.space.use.length; bin += 1) {
    if (!isOverloaded(trial.space, bin)) continue;
    const here = movables.filter((each) => each.placed.bins.includes(bin));
    for (const each of here.sort((a, b) => a.item.demand.memory - b.item.demand.memory)) {
      if (!isOverloaded(trial.space, bin)) break;
      trial.attempt(() => rehome(trial, each, bin, true));
    }
  }
}

function isOverloaded(space: BinSpace, bin: number): boolean {
  if (space.use[bin] !== SHARED) return false;
  for (let k = 0; k < 3; k += 1) if ((space.load[3 * bin + k] ?? 0) > 1 + NOTICEABLE) return true;
  return false;
}

function emptyBin(trial: Trial, bin: number, movables: readonly Movable[]): void {
  const here = movables.filter((each) => each.placed.bins.includes(bin));
  if (here.length === 0 || trial.space.held[bin] !== here.length || here.some((each) => trial.hasMoved(each))) return;
  const { layout } = trial.space;
  here.sort((a, b) => dominantShare(layout, b.item) - dominantShare(layout, a.item));
  trial.attempt(() => here.every((each) => rehome(trial, each, bin, false)));
}

/** Finds it another place, not on `bin`. */
function rehome(trial: Trial, each: Movable, bin: number, mayOpen: boolean): boolean {
  trial.take(each);
  const { span } = each.item;
  const excluded = (first: number) => (first <= bin && bin < first + span) || !trial.canReach(each, first);
  const place =
    bestShared(trial.space, each.item, excluded) ?? (mayOpen ? bestFree(trial.space, each.item, excluded) : null);
  if (place === null) return false;
  trial.place(each, place.first);
  return true;
}

function placedAnew(trial: Trial, movables: readonly Movable[]): Trial | null {
  const { layout } = trial.space;
  for (const each of movables) trial.take(each);
  const shares = new Map(movables.map((each) => [each, dominantShare(layout, each.item)]));
  for (const each of [...movables].sort((a, b) => (shares.get(b) ?? 0) - (shares.get(a) ?? 0))) {
    const excluded = (first: number) => !trial.canReach(each, first);
    const shared = bestShared(trial.space, each.item, excluded);
    const first = shared?.first ?? trial.ownPlace(each) ?? bestFree(trial.space, each.item, excluded)?.first;
    if (first === undefined) return null;
    trial.place(each, first);
  }
  return trial;
}

function binsByBytes(movables: readonly Movable[]): readonly number[] {
  const bytes = new Map<number, number>();
  for (const { placed, item } of movables) {
    for (const bin of placed.bins) bytes.set(bin, (bytes.get(bin) ?? 0) + item.demand.memory);
  }
  return [...bytes].sort(([a, ofA], [b, ofB]) => ofA - ofB || a - b).map(([bin]) => bin);
}
