import { nameKey } from "@farmgate/shared";
import { sameList } from "./show-models.ts";
import type { CatalogModel } from "@farmgate/engines";
import type { WorkerEntry } from "./types.ts";

/** One worker's model as it counts for the union: flat, since the union reads all of them for each entry. */
export interface Listing {
  /** Place of the worker in the farm's order. */
  order: number;
  worker: string;
  id: string;
  /** The listing's key is the model's own name, not an alias of it. */
  own: boolean;
  kind: string;
  contextLength: number | null;
  /** null: none. */
  aliases: readonly string[] | null;
  /** Loaded, by a catalogue that still vouches for it. */
  warm: boolean;
}

/**
 * Who lists what, by `nameKey`, in the workers' order. Looking each model up in each worker's own map instead would
 * make the first round of a big farm slow: workers times workers times models.
 */
export type Listings = ReadonlyMap<string, readonly Listing[]>;

/** All listings of a farm. */
export function listingsOf(workers: readonly WorkerEntry[]): Listings {
  const all = new Map<string, Listing[]>();
  workers.forEach((worker, order) => {
    for (const [key, model] of listed(worker)) {
      const listings = all.get(key);
      const listing = listingOf(key, model, worker, order);
      if (listings === undefined) all.set(key, [listing]);
      else listings.push(listing);
    }
  });
  return all;
}

/** The listings after the worker at place `order` has become `worker`; only those of `keys` are looked at. */
export function updateListings(all: Listings, keys: ReadonlySet<string>, worker: WorkerEntry, order: number): Listings {
  const next = new Map(all);
  const models = listed(worker);
  for (const key of keys) {
    const others = (all.get(key) ?? []).filter((listing) => listing.order !== order);
    const model = models.get(key);
    if (model !== undefined) {
      const place = others.findIndex((listing) => listing.order > order);
      const listing = listingOf(key, model, worker, order);
      // One string object for one spelling makes comparing them a matter of pointers.
      const same = others.find(({ id }) => id === listing.id);
      others.splice(place < 0 ? others.length : place, 0, same === undefined ? listing : { ...listing, id: same.id });
    }
    if (others.length === 0) next.delete(key);
    else next.set(key, others);
  }
  return next;
}

/** The keys whose union entries may differ once `before` has become `after`. */
export function changedKeys(before: WorkerEntry, after: WorkerEntry): ReadonlySet<string> {
  const was = listed(before);
  const is = listed(after);
  const changed = new Set<string>();
  const vouches = (before.catalog === "unreachable") === (after.catalog === "unreachable");
  if (was === is && vouches) return changed;
  for (const [key, model] of was) if (!vouches || !sameShare(model, is.get(key))) changed.add(key);
  for (const key of is.keys()) if (!was.has(key)) changed.add(key);
  return changed;
}

const NOTHING: ReadonlyMap<string, CatalogModel> = new Map();

/** A worker that is out lists nothing. */
function listed(worker: WorkerEntry): ReadonlyMap<string, CatalogModel> {
  return worker.health === "unhealthy" || worker.health === "misconfigured" ? NOTHING : worker.byKey;
}

function listingOf(key: string, model: CatalogModel, worker: WorkerEntry, order: number): Listing {
  const { id, kind, contextLength } = model;
  const own = nameKey(id) === key;
  const aliases = model.aliases.length === 0 ? null : model.aliases;
  const warm = model.state === "warm" && worker.catalog !== "unreachable";
  return { order, worker: worker.config.name, id, own, kind, contextLength, aliases, warm };
}

/** Whether two models are the same to the union. */
function sameShare(a: CatalogModel, b: CatalogModel | undefined): boolean {
  return (
    a === b ||
    (b !== undefined &&
      a.id === b.id &&
      (a.state === "warm") === (b.state === "warm") &&
      a.kind === b.kind &&
      a.contextLength === b.contextLength &&
      sameList(a.aliases, b.aliases))
  );
}
