import { type BinSpace, FREE, range } from "./bin-space.ts";
import type { Placed } from "./fleet.ts";
import type { Item } from "./packing.ts";
import { potentialOf } from "./potential.ts";
import type { PotentialWeights } from "./rules.ts";

/** A stable replica that can be moved now. */
export interface Movable {
  placed: Placed;
  item: Item;
}

/** A repack in the making: how the bins would be, and the moves that lead there. */
export class Trial {
  /** Once the old copies are gone. */
  space: BinSpace;
  /** While the old copies and the new ones are there. */
  #meanwhile: BinSpace;
  #movedBytes = 0;
  readonly #weights: PotentialWeights;
  readonly before: number;
  moves: readonly { movable: Movable; to: number }[] = [];

  /** `space` is without those that are told to go, which are not worth a move; `meanwhile` has them still. */
  constructor(space: BinSpace, meanwhile: BinSpace, weights: PotentialWeights) {
    this.space = space.copy();
    this.#meanwhile = meanwhile.copy();
    this.#weights = weights;
    this.before = potentialOf(space, 0, weights);
  }

  potential(): number {
    return potentialOf(this.space, this.#movedBytes, this.#weights);
  }

  hasMoved(movable: Movable): boolean {
    return this.moves.some((move) => move.movable === movable);
  }

  take({ placed, item }: Movable): void {
    this.space.put(placed.bins, item.demand, item.span, -1);
  }

  /** Whether it is there already, or a copy of it can start there beside all that is there now and all that comes. */
  canReach({ placed, item }: Movable, first: number): boolean {
    return placed.bins[0] === first || this.#meanwhile.fits(first, item.demand, item.span);
  }

  /** Where it was, if that is empty by now. */
  ownPlace({ placed, item }: Movable): number | null {
    const first = placed.bins[0] ?? -1;
    const isGroup = this.space.layout.groups(item.span).includes(first) && placed.bins.length === item.span;
    const isThere = isGroup && this.space.isAll(first, item.span, 1 << FREE);
    return isThere && this.space.fits(first, item.demand, item.span) ? first : null;
  }

  place(movable: Movable, first: number): void {
    const { item, placed } = movable;
    this.space.putStable(first, item.demand, item.span);
    if (placed.bins[0] === first) return;
    this.#meanwhile.put(range(first, item.span), item.demand, item.span);
    this.#movedBytes += item.demand.memory;
    this.moves = [...this.moves, { movable, to: first }];
  }

  /** Takes back what `change` did where it says no, or where the potential did not fall. */
  attempt(change: () => boolean): void {
    const space = this.space.copy();
    const meanwhile = this.#meanwhile.copy();
    const { moves } = this;
    const movedBytes = this.#movedBytes;
    const before = this.potential();
    if (change() && this.potential() < before) return;
    this.space = space;
    this.#meanwhile = meanwhile;
    this.moves = moves;
    this.#movedBytes = movedBytes;
  }
}
