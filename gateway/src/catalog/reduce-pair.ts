import { type Api, nameKey } from "@farmgate/shared";
import { adapterFor } from "@farmgate/engines";
import { namedModel } from "./named-model.ts";
import { RETRY_MS } from "./reduce-poll.ts";
import { showModels } from "./show-models.ts";
import type { TrackedWorker } from "./tracked.ts";
import type { Aside, CatalogEvent } from "./types.ts";

type Disowned = Pick<Extract<CatalogEvent, { type: "disowned" }>, "model" | "api" | "reason">;

/** How long a pair stays set aside, in milliseconds (contract: "No wrong model ever answers"). */
const ASIDE_MS = 60_000;
/** Pairs set aside on one worker: callers type names at will, so their number is bounded. */
const MAX_ASIDE = 1_000;
/** Answers within this time, in milliseconds, of one already noted add nothing worth a new value. */
const ANSWER_GRAIN_MS = 1_000;

/** Answer bytes of a model: the worker is alive, and has the model loaded until a later poll says otherwise. */
export function answered(worker: TrackedWorker, model: string, at: number): TrackedWorker {
  const key = ownKey(worker, model);
  const swaps = worker.engine !== null && adapterFor(worker.engine).swapsUnseen;
  const tracked = worker.byKey.has(key) && !swaps;
  const noted = tracked ? (worker.answered.get(key) ?? null) : worker.answeredAt;
  const news = (swaps && worker.lastAnswered !== key) || worker.retryAt.has(key);
  if (!news && noted !== null && at - noted < ANSWER_GRAIN_MS) return worker;
  const next: TrackedWorker = {
    ...worker,
    answeredAt: Math.max(at, worker.answeredAt ?? at),
    answered: tracked ? new Map(worker.answered).set(key, at) : worker.answered,
    lastAnswered: key,
    retryAt: without(worker.retryAt, pairKeys(worker, model)),
  };
  return showModels(next);
}

/**
 * The pair cannot serve this: out of choice for a minute, under every name that the worker has for the model. Only
 * for the API that was asked for, so that no caller takes a chat model away by asking it for embeddings.
 */
export function disowned(worker: TrackedWorker, { model, api, reason }: Disowned, now: number): TrackedWorker {
  const asideUntil = new Map(worker.asideUntil);
  for (const key of pairKeys(worker, model)) {
    const apis = asideApis(asideUntil.get(key), api, now);
    asideUntil.delete(key);
    asideUntil.set(key, { until: now + ASIDE_MS, reason, ...(apis !== null && { apis }) });
  }
  for (const [key, { until }] of asideUntil) if (until <= now) asideUntil.delete(key);
  for (const key of asideUntil.keys()) {
    if (asideUntil.size <= MAX_ASIDE) break;
    asideUntil.delete(key);
  }
  return { ...worker, asideUntil };
}

/** null: for every API. */
function asideApis(last: Aside | undefined, api: Api | undefined, now: number): readonly Api[] | null {
  if (api === undefined) return null;
  if (last === undefined || last.until <= now) return [api];
  return last.apis === undefined ? null : [...new Set([...last.apis, api])];
}

/**
 * The pair's load failed: the next try is due after a while, and what was loaded before may be gone. A worker agent
 * has a budget of failures of its own and tells in its catalogue when that is spent.
 */
export function loadFailed(worker: TrackedWorker, model: string, now: number): TrackedWorker {
  const keys = pairKeys(worker, model).filter((key) => namedModel(worker, key) !== undefined);
  const gone = { ...worker, answered: without(worker.answered, keys), lastAnswered: null };
  if (worker.engine === "agent") return showModels(gone);
  const retryAt = new Map(worker.retryAt);
  for (const key of keys) retryAt.set(key, now + RETRY_MS);
  return showModels({ ...gone, retryAt });
}

/** The key of the model's own name on this worker. */
function ownKey(worker: TrackedWorker, name: string): string {
  const key = nameKey(name);
  const model = namedModel(worker, key);
  return model === undefined ? key : nameKey(model.id);
}

/** The keys of all names under which the worker has the model. */
function pairKeys(worker: TrackedWorker, name: string): string[] {
  const key = nameKey(name);
  const model = namedModel(worker, key);
  return model === undefined ? [key] : [model.id, ...model.aliases].map(nameKey);
}

function without<T>(map: ReadonlyMap<string, T>, keys: readonly string[]): ReadonlyMap<string, T> {
  if (!keys.some((key) => map.has(key))) return map;
  const rest = new Map(map);
  for (const key of keys) rest.delete(key);
  return rest;
}
