import type { CatalogModel } from "@farmgate/engines";
import type { Catalog, WorkerEntry } from "../catalog/types.ts";
import { fitOf } from "./fit.ts";
import type { RecentUseView } from "./recent-use.ts";
import { hasWarmCopy } from "./usable.ts";

/** Models in use of which a worker has the farm's last warm copy. */
export interface LastCopiesView {
  /** The worker's models; empty for most. */
  on(worker: string, catalog: Catalog, now: number): readonly CatalogModel[];
}

const NONE: readonly CatalogModel[] = [];
/** What was found holds this long, in milliseconds, unless the farm or what is in use changes. */
const GRAIN_MS = 1_000;

/** Found when it is first asked for after a change, so that requests for warm models pay nothing for it. */
export class LastCopies implements LastCopiesView {
  readonly #recentUse: RecentUseView;
  #byWorker: ReadonlyMap<string, readonly CatalogModel[]> = new Map();
  #version = -1;
  #generation = -1;
  #foundAt = Number.NEGATIVE_INFINITY;

  constructor(recentUse: RecentUseView) {
    this.#recentUse = recentUse;
  }

  on(worker: string, catalog: Catalog, now: number): readonly CatalogModel[] {
    const { generation } = this.#recentUse;
    const same = catalog.version === this.#version && generation === this.#generation;
    if (!same || now - this.#foundAt >= GRAIN_MS) {
      this.#byWorker = lastCopies(catalog, this.#recentUse.inUse(now), now);
      this.#version = catalog.version;
      this.#generation = generation;
      this.#foundAt = now;
    }
    return this.#byWorker.get(worker) ?? NONE;
  }
}

/** By worker: the models of `inUse` that it alone has warm. */
function lastCopies(
  catalog: Catalog,
  inUse: readonly string[],
  now: number,
): ReadonlyMap<string, readonly CatalogModel[]> {
  const found = new Map<string, CatalogModel[]>();
  if (inUse.length === 0) return found;
  const entries = new Map(catalog.workers.map((entry) => [entry.config.name, entry]));
  for (const key of inUse) {
    const warm = (catalog.union.get(key)?.warm ?? []).flatMap((name) => entries.get(name) ?? []);
    const counted = warm.filter((entry) => hasWarmCopy(entry, key, now));
    const [only] = counted;
    const model = only?.byKey.get(key);
    if (counted.length !== 1 || only === undefined || model === undefined) continue;
    const there = found.get(only.config.name);
    if (there === undefined) found.set(only.config.name, [model]);
    else there.push(model);
  }
  return found;
}

/**
 * The model whose last warm copy in the farm may go when the worker loads this one; null: none, or not known. Which
 * of its models an agent takes out is its own choice, so one that would have to take out any counts.
 */
export function wouldDropLastCopy(
  entry: WorkerEntry,
  model: CatalogModel,
  lastCopiesThere: readonly CatalogModel[],
): CatalogModel | null {
  if (lastCopiesThere.length === 0 || fitOf(entry, model) !== "evicts") return null;
  for (const other of lastCopiesThere) if (other !== model && !other.pinned) return other;
  return null;
}
