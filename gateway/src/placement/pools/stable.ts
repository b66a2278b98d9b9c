import { type BinSpace, range, SHARED } from "./bin-space.ts";
import { type Arrival, isMovableState, placeWords, started, takeOut } from "./arrival.ts";
import type { Departures } from "./departures.ts";
import { type Fleet, itemOf } from "./fleet.ts";
import type { UsedModel } from "./model-use.ts";
import { bestPlace, dominantShare } from "./packing.ts";
import { balanceOf, type Repack, repackAll, repackBin, type Spaces } from "./repack.ts";
import { RoomSearch } from "./room-search.ts";
import type { PoolRules } from "./rules.ts";
import type { Movable } from "./trial.ts";
import type { PoolAction } from "./types.ts";

export interface StablePlan {
  actions: readonly PoolAction[];
  reasons: readonly string[];
  /** Bins that the stable pool needs and does not use yet: in use by the elastic pool, being left, or free. */
  claimed: ReadonlySet<number>;
  /** Elastic models to be demoted, so that one finds room beside them. */
  demoted: readonly string[];
  /** The whole pool was looked at anew. */
  isSeenThrough: boolean;
}

/**
 * Where the models of the stable pool go. `space` has the bins of which it may use what it shares or nobody uses; with
 * `mayClaim` also what the elastic pool uses.
 *
 * 1. Arrivals, the greatest dominant share first: beside others, else a free bin (see `bestPlace`).
 * 2. For those that found none: 2a. where bins are being left; 2b. where idle replicas can go for it; 2c. where an elastic
 *    line has more than one replica, the least heat for each first; 2d. beside the one of an elastic model, which
 *    is demoted for it. What only has to start beside one that is leaving starts now; the rest waits for its going.
 * 3. A bin that loses a replica and is used one-sidedly after it is emptied into the others, where that is worth it.
 * 4. When `isDue`: everything is looked at anew (see `repackAll`). Not while somebody waits for room that is being made.
 */
export function planStablePool(
  fleet: Fleet,
  space: BinSpace,
  used: readonly UsedModel[],
  departures: Departures,
  options: { mayClaim: boolean; isDue: boolean },
  rules: PoolRules,
): StablePlan {
  const actions: PoolAction[] = [];
  const reasons: string[] = [];
  const arrivals = arrivalsOf(fleet, space, used, departures);
  const { isDue } = options;
  if (arrivals.length === 0 && !isDue && departures.gone.size === 0) return NOTHING;
  const now = space.copy();
  // 1
  const homeless: Arrival[] = [];
  for (const arrival of arrivals) {
    const place = bestPlace(now, arrival.item);
    if (place === null) homeless.push(arrival);
    else {
      now.putStable(place.first, arrival.item.demand, arrival.item.span);
      actions.push(started(fleet, arrival, place.first, placeWords(place)));
    }
  }
  // 2
  const search = homeless.length > 0 ? new RoomSearch(fleet, now, used, departures, options.mayClaim, rules) : null;
  for (const arrival of homeless) search?.find(arrival, actions, reasons);
  const { claimed, demoted } = search ?? NOTHING;
  if (search?.isWaiting === true) return { actions, reasons, claimed, demoted, isSeenThrough: false };
  const movables = movablesOf(fleet, now, used, departures);
  const spaces = { space: remaining(now, departures), meanwhile: now };
  if (isDue) {
    // 4
    const repack = repackAll(spaces, movables, rules.potential);
    pushMoves(fleet, repack, "the stable pool is packed better so", actions, reasons);
  } else {
    // 3
    const repack = repackLeft(spaces, departures, movables, rules);
    pushMoves(fleet, repack, "its bin is used one-sidedly since another left", actions, reasons);
  }
  return { actions, reasons, claimed, demoted, isSeenThrough: isDue };
}

const NOTHING: StablePlan = { actions: [], reasons: [], claimed: new Set(), demoted: [], isSeenThrough: false };

function arrivalsOf(
  fleet: Fleet,
  space: BinSpace,
  used: readonly UsedModel[],
  { gone }: Departures,
): readonly Arrival[] {
  const arrivals: Arrival[] = [];
  for (const { view, use } of used) {
    const here = fleet.staying(view.id).filter((placed) => !gone.has(placed));
    const outside = here[0];
    if (outside === undefined && use === "active") arrivals.push({ item: itemOf(fleet, view), from: null });
    const isOutside = here.every(({ bins, frozen }) => !frozen && bins.some((bin) => space.use[bin] !== SHARED));
    if (outside?.replica.state === "active" && isOutside && !fleet.isMoving(outside))
      arrivals.push({ item: itemOf(fleet, view), from: outside });
  }
  const { layout } = fleet;
  return arrivals.sort((a, b) => dominantShare(layout, b.item) - dominantShare(layout, a.item));
}

/** Without those that are told to go, which are not worth a move, and hold nothing up. */
function remaining(space: BinSpace, { gone }: Departures): BinSpace {
  const after = space.copy();
  for (const placed of gone) takeOut(after, placed);
  return after;
}

function movablesOf(
  fleet: Fleet,
  space: BinSpace,
  used: readonly UsedModel[],
  { gone }: Departures,
): readonly Movable[] {
  const stays = new Set(used.map(({ view }) => view));
  return fleet.placed.flatMap((placed) => {
    const isOurs = placed.pool === "stable" && placed.bins.every((bin) => space.use[bin] === SHARED);
    if (!stays.has(placed.model) || !isOurs || !isMovableState(placed) || gone.has(placed)) return [];
    if (fleet.isMoving(placed) || fleet.staying(placed.line.id).length > 1) return [];
    return { placed, item: itemOf(fleet, placed.line) };
  });
}

function repackLeft(
  spaces: Spaces,
  { gone }: Departures,
  movables: readonly Movable[],
  rules: PoolRules,
): Repack | null {
  const { space } = spaces;
  const bins = new Set([...gone].flatMap((placed) => placed.bins));
  for (const bin of bins) {
    if (space.use[bin] !== SHARED || balanceOf(space, bin) >= rules.fragmentation) continue;
    const repack = repackBin(spaces, bin, movables, rules.potential);
    if (repack !== null) return repack;
  }
  return null;
}

function pushMoves(
  fleet: Fleet,
  repack: Repack | null,
  reason: string,
  actions: PoolAction[],
  reasons: string[],
): void {
  if (repack === null) return;
  for (const { movable, to } of repack.moves) {
    const bins = range(to, movable.item.span).map((bin) => fleet.layout.bins[bin]?.id ?? "");
    actions.push({ kind: "move", replica: movable.placed.replica.id, to: bins, reason });
  }
  const moves = repack.moves.length === 1 ? "1 move" : `${repack.moves.length} moves`;
  reasons.push(`${moves} in the stable pool: the potential falls from ${show(repack.before)} to ${show(repack.after)}`);
}

function show(value: number): string {
  return value.toFixed(2);
}
