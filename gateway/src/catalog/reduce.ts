import { updateAliases } from "./alias-names.ts";
import { changedKeys, type Listings, listingsOf, updateListings } from "./listings.ts";
import { faulted, relieved, served, silent, trialOver, tried } from "./reduce-breaker.ts";
import { reduceConfigured } from "./reduce-configured.ts";
import { answered, disowned, loadFailed } from "./reduce-pair.ts";
import { type HealthSettings, reducePoll, refusal } from "./reduce-poll.ts";
import { showModels } from "./show-models.ts";
import type { TrackedCatalog, TrackedWorker } from "./tracked.ts";
import type { CatalogEvent, WorkerConfig, WorkerEntry } from "./types.ts";
import { updateUnion } from "./union.ts";

/** Names remembered as listed once; beyond that a worker that makes up names fills nothing. */
const MAX_EVER_LISTED = 100_000;

/** A farm without workers. */
export function emptyCatalog(): TrackedCatalog {
  return {
    workers: [],
    listings: new Map(),
    union: new Map(),
    aliases: new Map(),
    everListed: new Set(),
    allKnown: true,
    version: 0,
  };
}

/**
 * The catalogue after an event; the very same value when nothing changed, and with the same `version` when only
 * bookkeeping did (times of polls and answers). `now` is in milliseconds, on the scale of the events' own times.
 */
export function reduce(
  catalog: TrackedCatalog,
  event: CatalogEvent,
  now: number,
  settings: HealthSettings,
): TrackedCatalog {
  if (event.type === "configured") return withConfigs(catalog, event.workers);
  const at = catalog.workers.findIndex((worker) => worker.config.name === event.worker);
  const before = catalog.workers[at];
  if (before === undefined) return catalog;
  const after = reduceWorker(before, event, now, settings);
  if (after === before) return catalog;
  const workers = catalog.workers.with(at, after);
  if (looksSame(before, after)) return { ...catalog, workers };
  const keys = changedKeys(before, after);
  const listings = keys.size === 0 ? catalog.listings : updateListings(catalog.listings, keys, after, at);
  return rebuilt(catalog, workers, listings, keys, after.byKey === before.byKey ? [] : [after]);
}

function reduceWorker(
  worker: TrackedWorker,
  event: Exclude<CatalogEvent, { type: "configured" }>,
  now: number,
  settings: HealthSettings,
): TrackedWorker {
  switch (event.type) {
    case "polled":
      return reducePoll(worker, event, now, settings);
    case "refused":
      return refusal(worker, now);
    case "answered":
      return answered(relieved(worker, event.model, false), event.model, event.at);
    case "faulted":
      return faulted(worker, event, now);
    case "silent":
      return silent(worker, event, now);
    case "tried":
      return tried(worker, event.model, event.at);
    case "trial_over":
      return trialOver(worker, event.model, event.at);
    case "served":
      return served(worker, event.model, now);
    case "disowned":
      return disowned(worker, event, now);
    case "load_failed":
      return loadFailed(worker, event.model, now);
    case "drain":
      return showModels({ ...worker, drainedHere: true });
    case "resume":
      return showModels({ ...worker, drainedHere: false });
  }
}

function withConfigs(catalog: TrackedCatalog, configs: readonly WorkerConfig[]): TrackedCatalog {
  const workers = reduceConfigured(catalog.workers, configs);
  const same = workers.length === catalog.workers.length && workers.every((one, at) => one === catalog.workers[at]);
  if (same) return catalog;
  // The order of workers decides spellings and lists too, so that every key is looked at.
  const listings = listingsOf(workers);
  return rebuilt(catalog, workers, listings, new Set([...catalog.listings.keys(), ...listings.keys()]), workers);
}

function rebuilt(
  catalog: TrackedCatalog,
  workers: readonly TrackedWorker[],
  listings: Listings,
  keys: ReadonlySet<string>,
  relisted: readonly TrackedWorker[],
): TrackedCatalog {
  const aliases = updateAliases(catalog.aliases, listings, keys);
  return {
    workers,
    listings,
    union: keys.size === 0 ? catalog.union : updateUnion(catalog.union, listings, aliases, keys),
    aliases,
    everListed: withListed(catalog.everListed, relisted),
    allKnown: workers.every(isKnown),
    version: catalog.version + 1,
  };
}

/** A worker that is out, or on its way out, leaves no question open. */
function isKnown(worker: TrackedWorker): boolean {
  const out = worker.health === "unhealthy" || worker.health === "misconfigured" || worker.draining;
  return out || worker.catalog !== "unreachable";
}

function withListed(everListed: ReadonlySet<string>, workers: readonly TrackedWorker[]): ReadonlySet<string> {
  let next: Set<string> | null = null;
  for (const worker of workers) {
    for (const key of [...worker.byKey.keys(), ...worker.byAlias.keys()]) {
      if ((next ?? everListed).has(key)) continue;
      if ((next ?? everListed).size >= MAX_EVER_LISTED) return next ?? everListed;
      next ??= new Set(everListed);
      next.add(key);
    }
  }
  return next ?? everListed;
}

/** Whether readers can tell no difference, the catalogue's age aside. */
function looksSame(a: WorkerEntry, b: WorkerEntry): boolean {
  return (
    a.config === b.config &&
    a.engine === b.engine &&
    a.health === b.health &&
    a.catalog === b.catalog &&
    a.draining === b.draining &&
    a.refused === b.refused &&
    a.missedPolls === b.missedPolls &&
    a.problem === b.problem &&
    a.report === b.report &&
    a.byKey === b.byKey &&
    a.byAlias === b.byAlias &&
    a.asideUntil === b.asideUntil &&
    a.breakers === b.breakers &&
    a.retryAt === b.retryAt
  );
}
