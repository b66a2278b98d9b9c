import type { WorkerEntry } from "../../catalog/types.ts";
import { loadCalls } from "../load-calls.ts";
import { memoryTold } from "./memory-told.ts";
import { orderFor } from "../orders.ts";
import type { CapacityView, ElasticityView, ModelLoad, Prediction, Resources } from "../oracle/types.ts";
import type { Bin, ModelView } from "../pools/types.ts";
import type { BinsView, FarmBins } from "./farm-bins.ts";
import { expectedShare, type ObservedShare } from "./observed-share.ts";
import type { Observations } from "./observations.ts";

/** Predictions that planning goes by, and how careful it is with them. */
export interface Foresight {
  capacity: CapacityView;
  elasticity: ElasticityView;
  /** Standard deviations by which what is not sure is taken for worse than it looks. */
  caution: number;
  /** null: too little was observed. */
  observed(key: string): ObservedShare | null;
  /** The share that is to be on time. */
  share: number;
  /** Why a copy there helps nobody, in words that follow the worker's name; null: it may help. */
  whyNoHelp(worker: string, key: string): string | null;
}

const NO_LOAD: ModelLoad = { requestsPerSecond: 0, inputMean: 0, inputVariance: 0, outputMean: 0, outputVariance: 0 };

/**
 * Every model that was asked for lately, or has a replica, as the pools are to see it. Its fixed copies serve beside
 * those that are planned; where they alone are enough, none is planned.
 */
export function modelViews(
  view: Pick<BinsView, "catalog" | "orders" | "now">,
  { bins, replicas, fixed }: FarmBins,
  seen: Observations,
  foresight: Foresight,
  without: ReadonlySet<string>,
): ModelView[] {
  const { now } = view;
  const keys = new Set([...seen.inUse(now), ...replicas.map(({ model }) => model)]);
  const present = new Set(bins.map(({ id }) => id));
  const entries = view.catalog.workers.filter(({ config }) => present.has(config.name));
  return [...keys].flatMap((key) => {
    const copies = entries.filter(({ byKey }) => byKey.has(key));
    if (copies.length === 0 || without.has(key)) return [];
    const there = fixed.get(key) ?? 0;
    const figures = seen.of(key);
    const load = figures?.loadNow(now) ?? NO_LOAD;
    const observed = foresight.observed(key);
    const predict = (count: number) => foresight.elasticity.predict(key, load, count);
    const onTime = (count: number) => expectedShare(predict, there + count, observed, foresight);
    if (there > 0 && isEnough(onTime(0), foresight)) return [];
    const able = copies.filter((entry) => mayTake(entry, key, view));
    const isThere = (worker: string) => replicas.some((replica) => replica.worker === worker && replica.model === key);
    const helping = able.filter(({ config: { name } }) => isThere(name) || foresight.whyNoHelp(name, key) === null);
    // Better late than not at all.
    const allowed = helping.length > 0 ? helping : able;
    return {
      id: key,
      span: 1,
      load,
      heat: figures?.heat(now) ?? 0,
      demand: demandOf(key, figures?.steadyLoad(now) ?? NO_LOAD, copies, bins, foresight),
      onTime,
      ...reloadOf(copies, key),
      allowed: new Set(allowed.map(({ config }) => config.name)),
    };
  });
}

/** On the safe side: what is needed is taken for `caution` deviations more. */
function withCaution({ mean, variance }: Prediction, caution: number): number {
  return Math.max(0, mean + caution * Math.sqrt(Math.max(0, variance)));
}

/** As the slowest that has it tells. */
function reloadOf(copies: readonly WorkerEntry[], key: string): { reloadMs?: number } {
  const told = copies.flatMap(({ byKey }) => byKey.get(key)?.loadMs ?? []);
  return told.length === 0 ? {} : { reloadMs: Math.max(...told) };
}

function isEnough({ mean, variance }: Prediction, { share, caution }: Foresight): boolean {
  return mean - caution * Math.sqrt(Math.max(0, variance)) >= share;
}

function mayTake(entry: WorkerEntry, key: string, { orders, now }: Pick<BinsView, "orders" | "now">): boolean {
  const model = entry.byKey.get(key);
  if (model === undefined || loadCalls(entry.engine, model).length === 0) return false;
  const order = orderFor(orders, entry.config.name, key);
  return order?.phase !== "failed" || order.retryAt <= now;
}

/**
 * Memory is what the catalogues tell, since the agents go by that; where they do not, by the Oracle. Whatever it takes,
 * a worker of its own has to do: no more than the largest has.
 */
function demandOf(
  key: string,
  load: ModelLoad,
  copies: readonly WorkerEntry[],
  bins: readonly Bin[],
  { capacity, caution }: Foresight,
): Resources {
  const predicted = capacity.predict(key, load);
  const told = memoryTold(copies, key);
  const largest = (what: keyof Resources) => Math.max(0, ...bins.map((bin) => bin.capacity[what]));
  return {
    memory: told ?? Math.min(largest("memory"), withCaution(predicted.memory, caution)),
    compute: Math.min(largest("compute"), withCaution(predicted.compute, caution)),
    bandwidth: Math.min(largest("bandwidth"), withCaution(predicted.bandwidth, caution)),
  };
}
