import { nameKey } from "@farmgate/shared";
import { sameList } from "./show-models.ts";
import type { CatalogModel, UnionModel, WorkerEntry } from "./types.ts";

type Union = ReadonlyMap<string, UnionModel>;

/**
 * The union with the entries of `keys` made anew; entries that come out the same stay the same objects, and so does
 * the whole when none differs.
 *
 * 1. A key that some worker lists as a model's own name has an entry of its own, whatever it is an alias for elsewhere.
 * 2. Any other key that is an alias points at the entry of the first worker's model of that alias.
 */
export function updateUnion(union: Union, workers: readonly WorkerEntry[], keys: Iterable<string>): Union {
  const next = new Map(union);
  const aliases = new Set<string>();
  // 1
  for (const key of keys) {
    const listings = listingsOf(workers, key);
    if (!listings.some(isOwnName(key))) {
      aliases.add(key);
      continue;
    }
    const made = unionModel(key, listings);
    const last = union.get(key);
    next.set(key, last !== undefined && sameUnionModel(last, made) ? last : made);
    for (const { model } of listings) for (const alias of model.aliases) aliases.add(nameKey(alias));
  }
  // 2
  for (const alias of aliases) {
    const listings = listingsOf(workers, alias);
    if (listings.some(isOwnName(alias))) continue;
    const first = listings[0];
    const target = first === undefined ? undefined : next.get(nameKey(first.model.id));
    if (target === undefined) next.delete(alias);
    else next.set(alias, target);
  }
  return next.size === union.size && [...next].every(([key, entry]) => union.get(key) === entry) ? union : next;
}

/** The keys whose entries may differ once `before` has become `after`; null stands for a worker that is not there. */
export function changedKeys(before: WorkerEntry | null, after: WorkerEntry | null): Set<string> {
  const was = listed(before);
  const is = listed(after);
  const changed = new Set<string>();
  const warmthChanged = countsWarm(before) !== countsWarm(after);
  if (was === is && !warmthChanged) return changed;
  for (const [key, model] of was) if (warmthChanged || !sameShare(model, is.get(key))) changed.add(key);
  for (const key of is.keys()) if (!was.has(key)) changed.add(key);
  return changed;
}

interface Listing {
  worker: WorkerEntry;
  model: CatalogModel;
}

const NOTHING: ReadonlyMap<string, CatalogModel> = new Map();

/** What a worker adds to the union: a worker that is out adds nothing. */
function listed(worker: WorkerEntry | null): ReadonlyMap<string, CatalogModel> {
  if (worker === null || worker.health === "unhealthy" || worker.health === "misconfigured") return NOTHING;
  return worker.byKey;
}

/** An unreachable catalogue no longer vouches for what is loaded. */
function countsWarm(worker: WorkerEntry | null): boolean {
  return worker !== null && worker.catalog !== "unreachable";
}

function listingsOf(workers: readonly WorkerEntry[], key: string): Listing[] {
  const listings: Listing[] = [];
  for (const worker of workers) {
    const model = listed(worker).get(key);
    if (model !== undefined) listings.push({ worker, model });
  }
  return listings;
}

function isOwnName(key: string): (listing: Listing) => boolean {
  return ({ model }) => nameKey(model.id) === key;
}

function unionModel(key: string, listings: readonly Listing[]): UnionModel {
  const contexts = listings.map(({ model }) => model.contextLength).filter((length) => length !== null);
  const kinds = listings.map(({ model }) => model.kind);
  return {
    id: spelling(listings.filter(isOwnName(key)).map(({ model }) => model.id)),
    key,
    // "chat" is also what an engine's adapter says when it does not know better.
    kind: kinds.find((kind) => kind !== "chat") ?? "chat",
    contextLength: contexts.length === 0 ? null : contexts.reduce((a, b) => Math.min(a, b)),
    workers: listings.map(({ worker }) => worker.config.name),
    warm: listings
      .filter(({ worker, model }) => model.state === "warm" && countsWarm(worker))
      .map(({ worker }) => worker.config.name),
  };
}

/** The most common spelling, without `:latest`; among equals the first worker's. */
function spelling(ids: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const id of ids) {
    const bare = id.replace(/:latest$/i, "");
    counts.set(bare, (counts.get(bare) ?? 0) + 1);
  }
  return [...counts].reduce((best, entry) => (entry[1] > best[1] ? entry : best))[0];
}

/** Whether two models look the same from the union's side. */
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

function sameUnionModel(a: UnionModel, b: UnionModel): boolean {
  return (
    a.id === b.id &&
    a.kind === b.kind &&
    a.contextLength === b.contextLength &&
    sameList(a.workers, b.workers) &&
    sameList(a.warm, b.warm)
  );
}
