import type { WaitingRequest } from "@farmgate/engines";
import { nameKey } from "@farmgate/shared";
import { knownState } from "../catalog/known-state.ts";
import type { Catalog, UnionModel, WorkerEntry } from "../catalog/types.ts";
import type { Warmth } from "../placement/warmth-notes.ts";
import type { LiveRequest } from "../proxy/live-requests.ts";
import type { InflightView } from "../routing/types.ts";
import { toldVariants } from "./model-list.ts";
import { pairAside, workerProblem, workerState } from "./worker-state.ts";

/** Whether who asks may know of a model, by its name there. */
export type ShowsModel = (id: string) => boolean;

/** Whether who asks may use anything of a worker, as far as is known. */
export function isShown({ report }: WorkerEntry, shows: ShowsModel): boolean {
  const models = report?.models ?? [];
  return models.length === 0 || models.some(({ id }) => shows(id));
}

interface WorkerScene {
  inflight: InflightView;
  shows: ShowsModel;
  /** What is left of its registration, in milliseconds; null: it stands in the file. */
  leaseMs: number | null;
  /** See `pairAside`. */
  now: number;
}

/** One entry of `/farm/workers` (contract section 4), with the reason for a state that is not good. */
export function farmWorker(worker: WorkerEntry, { inflight, shows, leaseMs, now }: WorkerScene): object {
  const { name, url, weight, maxConcurrent } = worker.config;
  return {
    name,
    url,
    engine: worker.engine ?? worker.config.engine,
    state: workerState(worker),
    catalog: worker.catalog,
    weight: weight ?? 1,
    maxConcurrent,
    registered: leaseMs !== null,
    ...(leaseMs !== null && { lease_ms: Math.round(leaseMs) }),
    inflight: inflight.worker(name),
    problem: workerProblem(worker, shows, now),
    models: (worker.report?.models ?? [])
      .filter(({ id }) => shows(id))
      .map((model) => {
        const aside = pairAside(worker, nameKey(model.id), now);
        return { id: model.id, state: knownState(worker, model), queued: model.queued, aside };
      }),
  };
}

/** One entry of `/farm/models`: where a model stands on each of its workers, and what is to be said of its copies. */
export function farmModel(model: UnionModel, catalog: Catalog, warmth: Warmth): object {
  const { id, kind, contextLength, workers, warm, variants } = model;
  const { copies, wanted, note } = warmth;
  const states = catalog.workers.flatMap((worker) => {
    const own = worker.byKey.get(model.key);
    return own === undefined ? [] : [{ worker: worker.config.name, id: own.id, state: knownState(worker, own) }];
  });
  return {
    id,
    kind,
    context_length: contextLength,
    workers,
    warm,
    ...(variants !== null && { variants: toldVariants(id, variants) }),
    lacking: catalog.workers.filter((worker) => isKnownToLack(worker, model)).map(({ config }) => config.name),
    states,
    warm_copies: copies,
    keep_warm: wanted,
    note,
  };
}

/** Workers that are out, or of whose catalogue nothing is known, are left open. */
function isKnownToLack({ health, report, byKey }: WorkerEntry, { key }: UnionModel): boolean {
  return health === "healthy" && report !== null && !byKey.has(key);
}

/** One entry of `/farm/requests`. `nowWall` is milliseconds since the Unix epoch. */
export function farmRequest(live: LiveRequest, queue: QueuePlace | null, nowWall: number): object {
  const { id, api, model, worker, phase, callerName, since } = live;
  const age = Math.max(0, Math.round(nowWall - since));
  return { id, api, model, worker, phase, caller: callerName, since, age_ms: age, queue };
}

interface QueuePlace {
  /** In its model's queue, from 1. */
  position: number;
  waited_ms: number;
  /** The longest that it will still wait, as its agent promised; null: not known. */
  bound_ms: number | null;
}

/**
 * Where requests wait in their agents' queues by the agents' last catalogues, whose times are brought up to `now`
 * (milliseconds, the clock of polls); null: in none, as far as is known. For thousands of requests at once.
 */
export function queuePlaces({ workers }: Catalog, now: number): (live: LiveRequest) => QueuePlace | null {
  const toldBy = new Map(
    workers.map(({ config, catalogAt, report }) => {
      const told = new Map(report?.waiting.map((waiting) => [waiting.id, waiting]));
      return [config.name, { told, since: Math.max(0, now - (catalogAt ?? now)) }];
    }),
  );
  return ({ id, worker, phase }) => {
    const told = phase === "asking" ? toldBy.get(worker ?? "") : undefined;
    const waiting = told?.told.get(id);
    return told === undefined || waiting === undefined ? null : placeOf(waiting, told.since);
  };
}

function placeOf(told: WaitingRequest, since: number): QueuePlace {
  return {
    position: told.position,
    waited_ms: Math.round(told.waitedMs + since),
    bound_ms: told.boundMs === null ? null : Math.round(Math.max(0, told.boundMs - since)),
  };
}
