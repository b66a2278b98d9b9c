import { anyGlobMatches, type ModelState, nameKey } from "@farmgate/shared";
import { adapterFor } from "@farmgate/engines";
import { contextOf } from "./copy.ts";
import { NO_ENTRIES, type TrackedWorker } from "./tracked.ts";
import type { CatalogModel, CatalogReport } from "@farmgate/engines";
import type { WorkerConfig } from "./types.ts";

/**
 * The worker with `report` and its names as readers shall see them: its last good catalogue, with what happened since
 * laid over it. Models that look the same stay the same objects; when all do, so do the report and the map.
 */
export function showModels(worker: TrackedWorker): TrackedWorker {
  const { told } = worker;
  const draining = worker.drainedHere || told?.draining === true;
  if (told === null) return { ...worker, draining, report: null, byKey: NO_ENTRIES, byAlias: NO_ENTRIES };
  const shown = new Map(worker.report?.models.map((model) => [model.id, model]));
  const models = told.models.map((model) => {
    const state = shownState(model, worker);
    const next = state === model.state ? model : inState(state, model, worker);
    const last = shown.get(model.id);
    return last !== undefined && sameFields(last, next) ? last : next;
  });
  const report = sharedReport(worker.report, { ...told, models });
  if (report === worker.report) return { ...worker, draining };
  return { ...worker, draining, report, ...modelsByName(report.models, worker.config) };
}

/** What was told of it in another state, as a forecast, may say nothing of this one. */
function inState(state: ModelState, model: CatalogModel, { engine }: TrackedWorker): CatalogModel {
  return { ...model, state, predictedWaitMs: null, waitBoundMs: null, contextLength: contextOf(model, engine) };
}

/**
 * What the owner lets through, by `nameKey`. A model's own name comes before another's alias; of two models with one
 * key the first counts, and the other is not there at all.
 */
export function modelsByName(
  models: readonly CatalogModel[],
  config: WorkerConfig,
): Pick<TrackedWorker, "byKey" | "byAlias"> {
  const byKey = new Map<string, CatalogModel>();
  for (const model of models) {
    const key = nameKey(model.id);
    if (!byKey.has(key) && isAllowed(model, config)) byKey.set(key, model);
  }
  const byAlias = new Map<string, CatalogModel>();
  for (const model of byKey.values()) {
    for (const alias of model.aliases) {
      const key = nameKey(alias);
      if (!byKey.has(key) && !byAlias.has(key)) byAlias.set(key, model);
    }
  }
  return { byKey, byAlias };
}

/** One of its names is allowed and none is denied: a denied model is not to be had by another name. */
function isAllowed({ id, aliases }: CatalogModel, { models: { allow, deny } }: WorkerConfig): boolean {
  const names = [id, ...aliases];
  return names.some((name) => anyGlobMatches(allow, name)) && !names.some((name) => anyGlobMatches(deny, name));
}

/**
 * 1. An engine that swaps unseen holds the model that it last answered, and no other.
 * 2. A model that answered since the last good poll is warm.
 * 3. A llama-server that said "Loading model" is loading what it had.
 * 4. A failed load stays one until its next try is due, unless the engine says that it has the model after all.
 * 5. Else what the catalogue said.
 */
function shownState(model: CatalogModel, worker: TrackedWorker): ModelState {
  const key = nameKey(model.id);
  if (worker.lastAnswered !== null && worker.engine !== null && adapterFor(worker.engine).swapsUnseen) {
    return worker.lastAnswered === key ? "warm" : "cold";
  }
  if (worker.answered.has(key)) return "warm";
  if (worker.loading) return "loading";
  if (worker.retryAt.has(key) && model.state !== "warm" && model.state !== "loading") return "failed";
  return model.state;
}

function sharedReport(last: CatalogReport | null, next: CatalogReport): CatalogReport {
  if (last === null) return next;
  const same =
    last.refusesUnknown === next.refusesUnknown &&
    last.draining === next.draining &&
    last.slots === next.slots &&
    last.memory?.budgetBytes === next.memory?.budgetBytes &&
    last.memory?.usedBytes === next.memory?.usedBytes &&
    sameWaiting(last.waiting, next.waiting) &&
    last.models.length === next.models.length &&
    next.models.every((model, at) => model === last.models[at]);
  return same ? last : next;
}

function sameWaiting(a: CatalogReport["waiting"], b: CatalogReport["waiting"]): boolean {
  return (
    a.length === b.length &&
    a.every((one, at) => {
      const other = b[at];
      return other !== undefined && sameFields(one, other);
    })
  );
}

/** Field by field, whichever there are: one that was forgotten here would be told as it was for ever. */
function sameFields<T extends object>(a: T, b: T): boolean {
  if (a === b) return true;
  for (const field of Object.keys(a) as (keyof T)[]) {
    const [one, other] = [a[field], b[field]];
    if (one !== other && !(Array.isArray(one) && Array.isArray(other) && sameList(one, other))) return false;
  }
  return true;
}

/** Two lists with equal elements in one order, or both null. */
export function sameList(a: readonly string[] | null, b: readonly string[] | null): boolean {
  if (a === null || b === null) return a === b;
  return a.length === b.length && a.every((item, at) => item === b[at]);
}
