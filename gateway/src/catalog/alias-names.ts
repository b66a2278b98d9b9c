import { nameKey } from "@farmgate/shared";
import type { Listing, Listings } from "./listings.ts";
import type { AliasTarget } from "./types.ts";

type Aliases = ReadonlyMap<string, readonly AliasTarget[]>;

/** What aliases stand for, with `keys` looked at anew; the very same map when nothing differs. */
export function updateAliases(aliases: Aliases, all: Listings, keys: Iterable<string>): Aliases {
  let next: Map<string, readonly AliasTarget[]> | null = null;
  for (const key of keys) {
    const was = (next ?? aliases).get(key);
    const is = targetsOf(all.get(key) ?? []);
    if (is === null ? was === undefined : was !== undefined && sameTargets(was, is)) continue;
    next ??= new Map(aliases);
    if (is === null) next.delete(key);
    else next.set(key, is);
  }
  return next ?? aliases;
}

/** null: nobody has the name as an alias, or it is a model's own name somewhere. */
function targetsOf(listings: readonly Listing[]): readonly AliasTarget[] | null {
  if (listings.length === 0 || listings.some(({ own }) => own)) return null;
  const targets = new Map<string, AliasTarget & { workers: string[] }>();
  for (const { id, worker } of listings) {
    const key = nameKey(id);
    const target = targets.get(key);
    if (target === undefined) targets.set(key, { key, id, workers: [worker] });
    else target.workers.push(worker);
  }
  return [...targets.values()];
}

function sameTargets(a: readonly AliasTarget[], b: readonly AliasTarget[]): boolean {
  const words = (targets: readonly AliasTarget[]) => targets.flatMap(({ id, workers }) => [id, ...workers]).join("\n");
  return a.length === b.length && words(a) === words(b);
}
