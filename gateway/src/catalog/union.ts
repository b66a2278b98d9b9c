import { nameKey } from "@farmgate/shared";
import type { Listing, Listings } from "./listings.ts";
import { sameList } from "./show-models.ts";
import type { Catalog, UnionModel } from "./types.ts";
import { Differences, sameVariants, variantsOf } from "./variants.ts";

type Union = ReadonlyMap<string, UnionModel>;

/**
 * The union with the entries of `keys` made anew; entries that come out the same stay the same objects, and so does
 * the whole when none differs.
 *
 * 1. A key that workers in use list as a model's own name has an entry of these, whatever it is an alias for elsewhere.
 * 2. One that is an alias for a single model points at that model's entry. For several: it is in no list.
 */
export function updateUnion(union: Union, all: Listings, aliases: Catalog["aliases"], keys: Iterable<string>): Union {
  const next = new Map(union);
  const others = new Set<string>();
  // 1
  for (const key of keys) {
    const made = unionModel(all.get(key) ?? [], key, others);
    if (made !== null) {
      next.set(key, sharedModel(union.get(key), made));
    } else {
      next.delete(key);
      others.add(key);
    }
  }
  // 2
  for (const alias of others) {
    const targets = aliases.get(alias);
    if (targets === undefined) continue;
    const [only] = targets;
    const entry = only === undefined || targets.length > 1 ? undefined : next.get(only.key);
    if (entry === undefined) next.delete(alias);
    else next.set(alias, entry);
  }
  return next.size === union.size && [...next].every(([key, entry]) => union.get(key) === entry) ? union : next;
}

/** The entry of a key; null when nobody in use has a model of that name. Aliases that lead to it go to `aliases`. */
function unionModel(listings: readonly Listing[], key: string, aliases: Set<string>): UnionModel | null {
  const names: string[] = [];
  const warm: string[] = [];
  const spellings = new Map<string, number>();
  let spelling = "";
  let spelledSo = 0;
  let kind = "chat";
  let contextLength: number | null = null;
  const differences = new Differences();
  for (const listing of listings) {
    if (!listing.own) continue;
    if (listing.aliases !== null) for (const alias of listing.aliases) aliases.add(nameKey(alias));
    if (listing.out) continue;
    differences.look(listing);
    names.push(listing.worker);
    if (listing.warm) warm.push(listing.worker);
    // Neighbours mostly agree, so that the map is asked once per run of equal spellings.
    if (listing.id !== spelling) {
      spellings.set(spelling, (spellings.get(spelling) ?? 0) + spelledSo);
      spelling = listing.id;
      spelledSo = 0;
    }
    spelledSo += 1;
    // "chat" is also what an engine's adapter says when it does not know better.
    if (kind === "chat") kind = listing.kind;
    if (listing.contextLength !== null) contextLength = Math.min(contextLength ?? Infinity, listing.contextLength);
  }
  if (spelledSo === 0) return null;
  spellings.set(spelling, (spellings.get(spelling) ?? 0) + spelledSo);
  const id = commonSpelling(spellings);
  const variants = differences.any ? variantsOf(listings) : null;
  return { id, key, kind, contextLength, workers: names, warm, variants };
}

/** The most common spelling, without `:latest`; among equals the first worker's. */
function commonSpelling(spellings: ReadonlyMap<string, number>): string {
  const counted = new Map<string, number>();
  for (const [id, count] of spellings) {
    const bare = id.replace(/:latest$/i, "");
    counted.set(bare, (counted.get(bare) ?? 0) + count);
  }
  return [...counted].reduce((best, entry) => (entry[1] > best[1] ? entry : best))[0];
}

function sharedModel(last: UnionModel | undefined, made: UnionModel): UnionModel {
  const same =
    last !== undefined &&
    last.id === made.id &&
    last.key === made.key &&
    last.kind === made.kind &&
    last.contextLength === made.contextLength &&
    sameList(last.workers, made.workers) &&
    sameList(last.warm, made.warm) &&
    sameVariants(last.variants, made.variants);
  return same ? last : made;
}
