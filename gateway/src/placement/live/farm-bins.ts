import { adapterFor, type CatalogModel } from "@farmgate/engines";
import type { Catalog, WorkerEntry } from "../../catalog/types.ts";
import { loadCalls } from "../load-calls.ts";
import type { OrderBook } from "../orders.ts";
import type { Bin, Pool, Replica } from "../pools/types.ts";
import { whyOut } from "../usable.ts";

/** A replica of the plan, and where it is. */
export interface FarmReplica extends Replica {
  worker: string;
  /** The worker's own spelling. */
  name: string;
}

/** The farm as the pools are to see it. */
export interface FarmBins {
  bins: readonly Bin[];
  replicas: readonly FarmReplica[];
  /** Loaded copies that no plan may touch, by `nameKey` of the model. */
  fixed: ReadonlyMap<string, number>;
  /** Workers that get no orders, and why, in words that follow their names. */
  leftAlone: ReadonlyMap<string, string>;
}

export interface BinsView {
  catalog: Catalog;
  orders: OrderBook;
  unloading: ReadonlyMap<string, { key: string }>;
  /** How fast a worker is beside the others: 1 is one like them. */
  speed(worker: string): { compute: number; bandwidth: number };
  /** The pool to which a model belongs, as last planned. */
  poolOf(key: string): Pool;
  /** A copy of it is not to go for any other model. */
  isNeeded(key: string): boolean;
  now: number;
}

/** Where nobody knows how much there is, memory is no bound, and the number of models is. */
const UNKNOWN_MEMORY = 2 ** 50;

/**
 * What there is to place on:
 *
 * 1. A worker that is out, or whose catalogue is not fresh, is not there, and neither are its copies.
 * 2. A copy is a replica when the catalogue shows it warm or loading, or when its load was ordered: 2a. one that is
 *    ordered or loading is starting; 2b. one that is told to go is draining.
 * 3. A worker that cannot be told to load any of its models, or does not say what it has loaded, is left alone: it is no
 *    bin, and its copies are fixed, as is one that is pinned or cannot be told to go.
 * 4. A copy that nobody needs takes no place, and is no replica: it stays until its room is wanted.
 * 5. Room: 5a. an agent's budget without what is fixed there; 5b. an agent without one has one model beside what is fixed;
 *    5c. where it is not told, as many models as are there, at least one.
 */
export function farmBins(view: BinsView): FarmBins {
  const bins: Bin[] = [];
  const replicas: FarmReplica[] = [];
  const fixed = new Map<string, number>();
  const leftAlone = new Map<string, string>();
  for (const entry of view.catalog.workers) {
    const { name } = entry.config;
    // 1
    if (entry.catalog !== "fresh" || whyOut(entry, "", view.now) !== null) continue;
    // 3
    const why = whyAlone(entry);
    if (why !== null) leftAlone.set(name, why);
    const movable: FarmReplica[] = [];
    let fixedBytes = 0;
    for (const [ownKey, model] of entry.byKey) {
      // 2
      const replica = replicaOf(entry, ownKey, model, view);
      if (replica === null) continue;
      if (why === null && !isFixed(entry, model)) movable.push(replica);
      else {
        fixed.set(replica.model, (fixed.get(replica.model) ?? 0) + 1);
        fixedBytes += model.memoryBytes ?? 0;
      }
    }
    if (why !== null) continue;
    // 4
    replicas.push(...movable.filter(({ model }) => view.isNeeded(model)));
    // 5
    const { compute, bandwidth } = view.speed(name);
    const told = entry.report?.memory ?? null;
    const budget = told?.budgetBytes ?? 0;
    const memory = budget === 0 ? UNKNOWN_MEMORY : Math.max(0, budget - fixedBytes);
    const maxModels = budget > 0 ? Math.max(1, entry.byKey.size) : told !== null ? 1 : Math.max(1, movable.length);
    bins.push({ id: name, host: name, index: 0, capacity: { memory, compute, bandwidth }, maxModels });
  }
  return { bins, replicas, fixed, leftAlone };
}

/** The id of a model's replica on a worker: it has one of each at most. */
export function replicaId(worker: string, key: string): string {
  return `${worker}\n${key}`;
}

function whyAlone({ byKey, engine }: WorkerEntry): string | null {
  const models = [...byKey.values()];
  if (models.every(({ state }) => state === "unknown")) return "does not say what it has loaded";
  return models.some((model) => loadCalls(engine, model).length > 0) ? null : "cannot be told to load a model";
}

function replicaOf(entry: WorkerEntry, ownKey: string, model: CatalogModel, view: BinsView): FarmReplica | null {
  const { name: worker } = entry.config;
  const key = view.catalog.union.get(ownKey)?.key ?? ownKey;
  const id = replicaId(worker, key);
  const isOrdered = view.orders.get(id)?.phase === "pending";
  if (model.state !== "warm" && model.state !== "loading" && !isOrdered) return null;
  const isGoing = view.unloading.get(worker)?.key === key;
  // 2a, 2b
  const state = isGoing ? "draining" : model.state === "warm" ? "active" : "starting";
  return { id, model: key, pool: view.poolOf(key), bins: [worker], state, worker, name: model.id };
}

function isFixed({ engine }: WorkerEntry, model: CatalogModel): boolean {
  return model.pinned || engine === null || adapterFor(engine).unload(model).length === 0;
}
