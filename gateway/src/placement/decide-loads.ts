import type { CatalogModel } from "@farmgate/engines";
import { formatDuration, nameKey } from "@farmgate/shared";
import type { Catalog, WorkerEntry } from "../catalog/types.ts";
import type { InflightView } from "../routing/types.ts";
import { fitOf, mayGoFor } from "./fit.ts";
import type { LastCopiesView } from "./last-copies.ts";
import { loadCalls } from "./load-calls.ts";
import { type OrderBook, orderFor } from "./orders.ts";
import type { RecentUseView } from "./recent-use.ts";
import { whyOut } from "./usable.ts";
import type { WantedCopies } from "./wanted-copies.ts";

/** What is known when loads are decided on. */
export interface PlacementView {
  catalog: Catalog;
  orders: OrderBook;
  /** Workers that are told to take a model out of memory. */
  unloading?: ReadonlyMap<string, unknown>;
  inflight: InflightView;
  recentUse: RecentUseView;
  lastCopies: LastCopiesView;
  now: number;
}

/** One load to order. */
export interface LoadOrder {
  worker: string;
  /** `nameKey` under which the copies are wanted. */
  key: string;
  /** The worker's own spelling. */
  model: string;
  reason: string;
}

/** A load that a worker is at, or is about to be told of: at most one for each. By the worker's name. */
export type Placed = Map<string, { key: string; model: string }>;

/**
 * The loads to order now, so that each wanted model has its copies on as many workers:
 *
 * 1. A copy counts where the next request can count on it (see `copiesOf`), loading and ordered ones included.
 * 2. While a model has too few, the best worker that can be told to load it (see `whyNoLoad`) is:
 *    2a. one where its load did not fail last; 2b. one with room for it, then one that does not tell, then one that must
 *    take something out; 2c. one that loses no last copy of a model in use; 2d. the one whose models have the fewest
 *    requests under way, then the fewest models in use; 2e. the one with the fewest requests, then with the fewest
 *    wanted copies; 2f. the one that has it loaded soonest, by its own word (from its page cache, say), those that do not
 *    tell last; then the first of the configuration.
 * 3. A worker has one order at a time, and no wanted copy goes for another, so that no two take turns.
 */
export function decideLoads(wanted: readonly WantedCopies[], view: PlacementView): readonly LoadOrder[] {
  const placed = placedBy(view.orders);
  const loads: LoadOrder[] = [];
  for (const want of wanted) {
    // 1
    let have = copiesOf(want, placed, view);
    while (have < want.copies) {
      // 2
      const best = bestWorker(want, wanted, placed, view);
      if (best === null) break;
      const { entry, model } = best;
      have += 1;
      const reason = `copy ${have} of ${want.copies}; ${fitWords(entry, model)}`;
      placed.set(entry.config.name, { key: want.key, model: model.id });
      loads.push({ worker: entry.config.name, key: want.key, model: model.id, reason });
    }
  }
  return loads;
}

/** The pending orders. */
export function placedBy(orders: OrderBook): Placed {
  const placed: Placed = new Map();
  for (const { phase, worker, key, model } of orders.values())
    if (phase === "pending") placed.set(worker, { key, model });
  return placed;
}

/**
 * Copies of the model that can be counted on: warm, loading or ordered, on a worker that is not out, and not to go for
 * a load that its worker is told of.
 */
function copiesOf(want: WantedCopies, placed: Placed, view: PlacementView): number {
  let copies = 0;
  for (const entry of view.catalog.workers) if (isCopy(entry, want.key, placed, view.now)) copies += 1;
  return copies;
}

/** See `copiesOf`. */
export function isCopy(entry: WorkerEntry, key: string, placed: Placed, now: number): boolean {
  const model = entry.byKey.get(key);
  if (model === undefined || whyOut(entry, key, now) !== null) return false;
  const load = placed.get(entry.config.name);
  if (load?.model === model.id) return true;
  if (model.state !== "warm" && model.state !== "loading") return false;
  const coming = load === undefined ? undefined : entry.byKey.get(nameKey(load.model));
  return coming === undefined || model.pinned || fitOf(entry, coming) !== "evicts";
}

/** The one reason that soon passes. */
export const AT_ANOTHER = "is at another order";

/** Why the worker cannot be told to load the model now, in words that follow its name; null: it can. */
export function whyNoLoad(
  entry: WorkerEntry,
  want: WantedCopies,
  wanted: readonly WantedCopies[],
  placed: Placed,
  view: PlacementView,
): string | null {
  const model = entry.byKey.get(want.key);
  if (model === undefined) return "does not list it";
  const out = whyOut(entry, want.key, view.now);
  if (out !== null) return out;
  if (entry.catalog !== "fresh") return "did not tell its catalogue at its last poll";
  if (model.state === "warm" || model.state === "loading") return `has it ${model.state}`;
  if (model.state === "unknown") return "cannot say whether it is loaded";
  if (loadCalls(entry.engine, model).length === 0) return "cannot be told to load it";
  const last = orderFor(view.orders, entry.config.name, want.key);
  if (last?.phase === "failed" && last.retryAt > view.now) {
    return `gets no order for it for ${formatDuration(last.retryAt - view.now)}: ${last.reason}`;
  }
  if (entry.engine !== "agent" && (entry.retryAt?.get(want.key) ?? 0) > view.now) return "failed to load it lately";
  if (placed.has(entry.config.name) || view.unloading?.has(entry.config.name) === true) return AT_ANOTHER;
  const kept = fitOf(entry, model) === "evicts" ? neededThere(entry, model, wanted, placed, view) : null;
  return kept === null ? null : `would have to take out ${kept.name}, which is to stay warm too`;
}

/** A wanted model that has no copy to spare, of those that may go for this one. */
function neededThere(
  entry: WorkerEntry,
  model: CatalogModel,
  wanted: readonly WantedCopies[],
  placed: Placed,
  view: PlacementView,
): WantedCopies | null {
  const mayGo = mayGoFor(entry, model);
  for (const other of wanted) {
    const there = entry.byKey.get(other.key);
    if (there !== undefined && mayGo.includes(there) && copiesOf(other, placed, view) <= other.copies) return other;
  }
  return null;
}

interface Ranked {
  entry: WorkerEntry;
  model: CatalogModel;
  /** Compared place by place; lower is better. */
  rank: readonly number[];
}

function bestWorker(
  want: WantedCopies,
  wanted: readonly WantedCopies[],
  placed: Placed,
  view: PlacementView,
): Ranked | null {
  let best: Ranked | null = null;
  for (const entry of view.catalog.workers) {
    const model = entry.byKey.get(want.key);
    if (model === undefined || whyNoLoad(entry, want, wanted, placed, view) !== null) continue;
    const next = { entry, model, rank: rankOf(entry, model, wanted, placed, view) };
    if (best === null || isBefore(next.rank, best.rank)) best = next;
  }
  return best;
}

const FIT_RANK = { fits: 0, unknown: 1, evicts: 2 };

function rankOf(
  entry: WorkerEntry,
  model: CatalogModel,
  wanted: readonly WantedCopies[],
  placed: Placed,
  view: PlacementView,
): readonly number[] {
  const { name } = entry.config;
  const { inflight, recentUse, lastCopies, catalog, now } = view;
  const fit = fitOf(entry, model);
  const mayGo = fit === "fits" ? [] : mayGoFor(entry, model);
  const lastOnes = lastCopies.on(name, catalog, now).filter((copy) => mayGo.includes(copy));
  // An engine that does not tell may still have to take something out.
  const needed = fit === "unknown" && neededThere(entry, model, wanted, placed, view) !== null;
  return [
    // 2a
    model.state === "failed" ? 1 : 0,
    // 2b
    FIT_RANK[fit],
    needed ? 1 : 0,
    // 2c
    lastOnes.length,
    // 2d
    mayGo.reduce((sum, { id }) => sum + inflight.pair(name, nameKey(id)), 0),
    mayGo.filter(({ id }) => recentUse.isInUse(nameKey(id), now)).length,
    // 2e
    inflight.worker(name),
    wanted.filter(({ key }) => isCopy(entry, key, placed, now)).length,
    // 2f
    model.loadMs ?? Number.POSITIVE_INFINITY,
  ];
}

function isBefore(a: readonly number[], b: readonly number[]): boolean {
  const at = a.findIndex((value, place) => value !== b[place]);
  return at >= 0 && (a[at] ?? 0) < (b[at] ?? 0);
}

function fitWords(entry: WorkerEntry, model: CatalogModel): string {
  switch (fitOf(entry, model)) {
    case "fits":
      return "there is room for it";
    case "unknown":
      return "whether there is room is not known";
    case "evicts":
      return `something has to go for it: ${mayGoFor(entry, model)
        .map(({ id }) => id)
        .join(" or ")}`;
  }
}
