import type { WorkerEntry } from "../catalog/types.ts";
import { AT_ANOTHER, isCopy, type Placed, placedBy, type PlacementView, whyNoLoad } from "./decide-loads.ts";
import { orderFor } from "./orders.ts";
import { hasWarmCopy } from "./usable.ts";
import type { WantedCopies } from "./wanted-copies.ts";

/** Workers that a note names before it only counts. */
const NAMED = 3;

/** How a model's warm copies are. */
export interface Warmth {
  key: string;
  name: string;
  /** Copies that the next request can count on. */
  copies: number;
  /** As many are to be kept (`models.keepWarm`); null: the owner says nothing. */
  wanted: number | null;
  /** `unmet`: the wanted copies cannot be had now. `single`: in use, and one copy where there could be more. */
  trouble: "unmet" | "single" | null;
  /** For people; null: nothing to say. */
  note: string | null;
}

/**
 * How the model's warm copies are:
 *
 * 1. Fewer than wanted: 1a. the missing ones are on their way, or about to be ordered; 1b. they are not: `unmet`. A
 *    load that failed before counts as on its way only once it is done, so that each new try is no news.
 * 2. In use, one copy, and two workers or more list it: `single`.
 */
export function warmthOf(
  model: { key: string; name: string },
  wanted: readonly WantedCopies[],
  view: PlacementView,
): Warmth {
  const { catalog, recentUse, now } = view;
  const want = wanted.find(({ key }) => key === model.key) ?? null;
  const warm = catalog.workers.filter((entry) => hasWarmCopy(entry, model.key, now));
  const facts = { key: model.key, name: model.name, copies: warm.length, wanted: want?.copies ?? null };
  // 1
  if (want !== null && warm.length < want.copies) {
    const have = `${warm.length} of ${want.copies} warm ${want.copies === 1 ? "copy" : "copies"}`;
    const unmet = whyUnmet(want, wanted, view);
    return unmet === null
      ? { ...facts, trouble: null, note: `${have}, more on the way` }
      : { ...facts, trouble: "unmet", note: `${have}: ${unmet}` };
  }
  // 2
  const [only] = warm;
  const listing = catalog.union.get(model.key)?.workers.length ?? 0;
  if (only !== undefined && warm.length === 1 && listing >= 2 && recentUse.isInUse(model.key, now)) {
    const note = `in use and warm on ${only.config.name} alone, though ${listing} workers have it`;
    return { ...facts, trouble: "single", note };
  }
  return { ...facts, trouble: null, note: null };
}

/** null: the missing copies are on their way. */
function whyUnmet(want: WantedCopies, wanted: readonly WantedCopies[], view: PlacementView): string | null {
  const placed = placedBy(view.orders);
  const listing = view.catalog.workers.filter(({ byKey }) => byKey.has(want.key));
  const whys = listing.flatMap((entry) => {
    const why = whyNoCopy(entry, want, wanted, placed, view);
    return why === null ? [] : [`${entry.config.name} ${why}`];
  });
  if (listing.length - whys.length >= want.copies) return null;
  const count = listing.length === 0 ? "no worker lists it" : listing.length === 1 ? "1 worker lists it" : null;
  if (whys.length === 0) return count ?? `${listing.length} workers list it`;
  const more = whys.length > NAMED ? [`and ${whys.length - NAMED} more`] : [];
  return [...whys.slice(0, NAMED), ...more].join(", ");
}

/** Why the worker has no copy and will not have one soon, in words that follow its name; null: it has or will. */
function whyNoCopy(
  entry: WorkerEntry,
  want: WantedCopies,
  wanted: readonly WantedCopies[],
  placed: Placed,
  view: PlacementView,
): string | null {
  const last = orderFor(view.orders, entry.config.name, want.key);
  if (last !== undefined && last.phase !== "held" && last.failures > 0) return `did not load it (${last.reason})`;
  if (isCopy(entry, want.key, placed, view.now)) return null;
  const why = whyNoLoad(entry, want, wanted, placed, view);
  return why === AT_ANOTHER ? null : why;
}
