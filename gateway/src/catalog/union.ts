import { nameKey } from "@farmgate/shared";
import type { Listing, Listings } from "./listings.ts";
import { sameList } from "./show-models.ts";
import type { UnionModel } from "./types.ts";

type Union = ReadonlyMap<string, UnionModel>;

/**
 * The union with the entries of `keys` made anew; entries that come out the same stay the same objects, and so does
 * the whole when none differs.
 *
 * 1. A key that some worker lists as a model's own name has an entry of its own, whatever it is an alias for elsewhere.
 * 2. Any other key that is an alias points at the entry of the first worker's model of that alias.
 */
export function updateUnion(union: Union, all: Listings, keys: Iterable<string>): Union {
  const next = new Map(union);
  const aliases = new Set<string>();
  // 1
  for (const key of keys) {
    const made = unionModel(all.get(key) ?? [], key, aliases);
    if (made === null) aliases.add(key);
    else next.set(key, sharedModel(union.get(key), made));
  }
  // 2
  for (const alias of aliases) {
    const target = aliasTarget(all.get(alias) ?? [], alias);
    const entry = target === null ? undefined : next.get(target);
    if (entry === undefined) next.delete(alias);
    else next.set(alias, entry);
  }
  return next.size === union.size && [...next].every(([key, entry]) => union.get(key) === entry) ? union : next;
}

/** The entry of a key; null when it is no model's own name. The aliases that lead to it are added to `aliases`. */
function unionModel(listings: readonly Listing[], key: string, aliases: Set<string>): UnionModel | null {
  const names: string[] = [];
  const warm: string[] = [];
  const spellings = new Map<string, number>();
  let spelling = "";
  let spelledSo = 0;
  let kind = "chat";
  let contextLength: number | null = null;
  for (const listing of listings) {
    names.push(listing.worker);
    if (listing.warm) warm.push(listing.worker);
    // Neighbours mostly agree, so that the map is asked once per run of equal spellings.
    if (listing.own && listing.id !== spelling) {
      spellings.set(spelling, (spellings.get(spelling) ?? 0) + spelledSo);
      spelling = listing.id;
      spelledSo = 0;
    }
    if (listing.own) spelledSo += 1;
    // "chat" is also what an engine's adapter says when it does not know better.
    if (kind === "chat") kind = listing.kind;
    if (listing.contextLength !== null) contextLength = Math.min(contextLength ?? Infinity, listing.contextLength);
    for (const alias of listing.aliases ?? []) aliases.add(nameKey(alias));
  }
  if (spelledSo === 0) return null;
  spellings.set(spelling, (spellings.get(spelling) ?? 0) + spelledSo);
  return { id: commonSpelling(spellings), key, kind, contextLength, workers: names, warm };
}

/** The key of the entry that an alias leads to; the alias itself when it is a model's own name; null: to none. */
function aliasTarget(listings: readonly Listing[], alias: string): string | null {
  const first = listings[0];
  if (first === undefined) return null;
  return listings.some((listing) => listing.own) ? alias : nameKey(first.id);
}

/** The most common spelling, without `:latest`; among equals the first worker's. */
function commonSpelling(spellings: ReadonlyMap<string, number>): string {
  const counts = new Map<string, number>();
  for (const [id, count] of spellings) {
    const bare = id.replace(/:latest$/i, "");
    counts.set(bare, (counts.get(bare) ?? 0) + count);
  }
  return [...counts].reduce((best, entry) => (entry[1] > best[1] ? entry : best))[0];
}

function sharedModel(last: UnionModel | undefined, made: UnionModel): UnionModel {
  const same =
    last !== undefined &&
    last.id === made.id &&
    last.kind === made.kind &&
    last.contextLength === made.contextLength &&
    sameList(last.workers, made.workers) &&
    sameList(last.warm, made.warm);
  return same ? last : made;
}
