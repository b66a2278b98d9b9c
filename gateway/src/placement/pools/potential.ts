import { type BinSpace, SHARED } from "./bin-space.ts";
import type { PotentialWeights } from "./rules.ts";

/**
 * What a packing costs; a repack is worth it when the sum falls:
 *
 *     usedBin  x bins in use by the stable pool
 *   + moved    x bytes that are moved to get there / bytes of a middling bin
 *   + overload x what bins carry above their capacity, as shares, over the three dimensions
 *
 * By default a bin that is freed is worth moves of two bins' worth of memory, and a bin that is over by a tenth is worth
 * a bin more.
 */
export function potentialOf(space: BinSpace, movedBytes: number, weights: PotentialWeights): number {
  let used = 0;
  let over = 0;
  for (let bin = 0; bin < space.use.length; bin += 1) {
    if (space.use[bin] !== SHARED) continue;
    used += 1;
    for (let k = 0; k < 3; k += 1) over += Math.max(0, (space.load[3 * bin + k] ?? 0) - 1);
  }
  const middling = space.layout.mean[0] ?? 0;
  const moved = movedBytes === 0 ? 0 : movedBytes / middling;
  return weights.usedBin * used + weights.moved * moved + weights.overload * over;
}
