import { type BinSpace, range } from "./bin-space.ts";
import type { Fleet, Placed } from "./fleet.ts";
import type { Item, Place } from "./packing.ts";
import type { PoolAction } from "./types.ts";

/** An active model that has no replica in the stable pool, or one that is outside of the pool's bins. */
export interface Arrival {
  item: Item;
  from: Placed | null;
}

export function started(fleet: Fleet, { item, from }: Arrival, first: number, reason: string): PoolAction {
  const bins = range(first, item.span).map((bin) => fleet.layout.bins[bin]?.id ?? "");
  if (from !== null)
    return { kind: "move", replica: from.replica.id, to: bins, reason: `to the stable pool: ${reason}` };
  return { kind: "activate", model: item.id, pool: "stable", bins, reason };
}

export function placeWords({ cosine }: Place): string {
  if (cosine === null) return "no bin in use has room for it";
  return `it complements what is there best (cosine ${cosine.toFixed(2)})`;
}

export function takeOut(space: BinSpace, { bins, line }: Placed): void {
  space.put(bins, line.demand, line.span, -1);
}

export function isMovableState({ replica, frozen }: Placed): boolean {
  return replica.state === "active" && !frozen;
}
