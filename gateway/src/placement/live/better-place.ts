import type { Catalog } from "../../catalog/types.ts";
import { fitOf } from "../fit.ts";
import type { ModelView, PoolAction } from "../pools/types.ts";
import type { FarmReplica } from "./farm-bins.ts";
import { AS_FAST } from "./as-fast.ts";
import type { Reach } from "./reach.ts";

export interface BetterView {
  catalog: Catalog;
  replicas: readonly FarmReplica[];
  /** The models of the plan, each with where it may go. */
  models: readonly ModelView[];
  reach(worker: string, key: string): Reach;
  /** The share that is to be on time. */
  share: number;
  /** The share on time over the last hour, and of how many requests; null: none was judged. */
  lastHour(key: string): { share: number; requests: number } | null;
}

/** Requests of which a share on time says that something is to be done. */
const FEWEST = 10;

/**
 * A further copy where there is room that nobody uses: plans for workers that are alike leave a model where it is as long
 * as one copy can do all of its work, however late each of its requests is. At most one at a time:
 *
 * 1. Of models that are late by the last hour, all of whose copies serve: the one with the most late requests.
 * 2. On a worker that has room for it without taking anything out, where a copy may help (`reaches`), and that is at least
 *    as fast with it as the fastest that has it, or of which nobody knows: the fastest, those that nobody knows last.
 */
export function betterPlace(view: BetterView): PoolAction | null {
  let best: PoolAction | null = null;
  let most = 0;
  for (const model of view.models) {
    const { id } = model;
    // 1
    const hour = view.lastHour(id);
    if (hour === null || hour.requests < FEWEST || hour.share >= view.share) continue;
    const late = hour.requests * (1 - hour.share);
    if (late <= most) continue;
    // 2
    const worker = bestWorker(model, view);
    if (worker === null) continue;
    most = late;
    const reason = `${Math.round(100 * hour.share)} % of it was on time in the last hour, and ${worker} has room that nobody uses`;
    best = { kind: "activate", model: id, pool: "stable", bins: [worker], reason };
  }
  return best;
}

function bestWorker({ id, allowed }: ModelView, view: BetterView): string | null {
  const copies = view.replicas.filter(({ model }) => model === id);
  if (copies.length === 0 || copies.some(({ state }) => state !== "active")) return null;
  const fastest = Math.min(...copies.map(({ worker }) => view.reach(worker, id).firstMs ?? Number.POSITIVE_INFINITY));
  let best: string | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const entry of view.catalog.workers) {
    const { name } = entry.config;
    const model = entry.byKey.get(id);
    if (model === undefined || copies.some(({ worker }) => worker === name)) continue;
    if (allowed?.has(name) === false || fitOf(entry, model) !== "fits") continue;
    const { firstMs, why } = view.reach(name, id);
    if (why !== null || (firstMs !== null && firstMs > AS_FAST * fastest)) continue;
    // Any is better than none.
    const rank = firstMs ?? Number.MAX_VALUE;
    if (rank >= least) continue;
    best = name;
    least = rank;
  }
  return best;
}
