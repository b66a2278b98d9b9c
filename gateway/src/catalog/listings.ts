import { contextOf, type Copy } from "./copy.ts";
import { namedModel } from "./named-model.ts";
import { sameList } from "./show-models.ts";
import type { CatalogModel } from "@farmgate/engines";
import type { WorkerEntry } from "./types.ts";

/** One worker's model as it counts for the union: flat, since the union reads all of them for each entry. */
export interface Listing extends Copy {
  /** Place of the worker in the farm's order. */
  order: number;
  worker: string;
  id: string;
  /** The listing's key is the model's own name, not an alias of it. */
  own: boolean;
  kind: string;
  /** As it is told; see `context`. */
  contextLength: number | null;
  /** null: none. */
  aliases: readonly string[] | null;
  /** Loaded, by a catalogue that still vouches for it. */
  warm: boolean;
  /** The worker is out: what it listed last is not there, but its names keep their meaning. */
  out: boolean;
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
    forEachName(worker, (key, model) => {
      const listings = all.get(key);
      const listing = listingOf(key, model, worker, order);
      if (listings === undefined) all.set(key, [listing]);
      else listings.push(listing);
    });
  });
  return all;
}

/** The listings after the worker at place `order` has become `worker`; only those of `keys` are looked at. */
export function updateListings(all: Listings, keys: ReadonlySet<string>, worker: WorkerEntry, order: number): Listings {
  const next = new Map(all);
  for (const key of keys) {
    const others = (all.get(key) ?? []).filter((listing) => listing.order !== order);
    const model = namedModel(worker, key);
    if (model !== undefined) {
      const place = others.findIndex((listing) => listing.order > order);
      const listing = listingOf(key, model, worker, order);
      // One string object for one spelling, or one digest, makes comparing them a matter of pointers.
      const same = others.find(({ id }) => id === listing.id);
      if (same !== undefined) listing.id = same.id;
      if (same?.digest === listing.digest) listing.digest = same.digest;
      others.splice(place < 0 ? others.length : place, 0, listing);
    }
    if (others.length === 0) next.delete(key);
    else next.set(key, others);
  }
  return next;
}

/** The keys whose union entries, or whose meaning as an alias, may differ once `before` has become `after`. */
export function changedKeys(before: WorkerEntry, after: WorkerEntry): ReadonlySet<string> {
  const changed = new Set<string>();
  const stands =
    isOut(before) === isOut(after) &&
    before.engine === after.engine &&
    (before.catalog === "unreachable") === (after.catalog === "unreachable");
  if (before.byKey === after.byKey && before.byAlias === after.byAlias && stands) return changed;
  forEachName(before, (key, model) => {
    if (!stands || !sameShare(model, namedModel(after, key))) changed.add(key);
  });
  forEachName(after, (key) => {
    if (namedModel(before, key) === undefined) changed.add(key);
  });
  return changed;
}

function forEachName({ byKey, byAlias }: WorkerEntry, each: (key: string, model: CatalogModel) => void): void {
  for (const [key, model] of byKey) each(key, model);
  for (const [key, model] of byAlias) each(key, model);
}

function isOut({ health }: WorkerEntry): boolean {
  return health === "unhealthy" || health === "misconfigured";
}

function listingOf(key: string, model: CatalogModel, worker: WorkerEntry, order: number): Listing {
  const { id, kind, contextLength, digest, quantization } = model;
  return {
    order,
    worker: worker.config.name,
    id,
    own: worker.byKey.has(key),
    kind,
    contextLength,
    aliases: model.aliases.length === 0 ? null : model.aliases,
    warm: model.state === "warm" && worker.catalog !== "unreachable",
    out: isOut(worker),
    digest,
    quantization,
    context: contextOf(model, worker.engine),
  };
}

/** Whether two models are the same to the union; of one name they are both own models or both have it as an alias. */
function sameShare(a: CatalogModel, b: CatalogModel | undefined): boolean {
  return (
    a === b ||
    (b !== undefined &&
      a.id === b.id &&
      (a.state === "warm") === (b.state === "warm") &&
      a.kind === b.kind &&
      a.contextLength === b.contextLength &&
      a.digest === b.digest &&
      a.quantization === b.quantization &&
      sameList(a.aliases, b.aliases))
  );
}
