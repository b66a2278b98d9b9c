import { isIdle, type ModelState } from "./model-state.ts";
import type { SchedulerView } from "./types.ts";

interface Viewed
  extends Pick<
    SchedulerView,
    "draining" | "swappingTo" | "unloading" | "swaps" | "evictions" | "inflight" | "memoryBudget"
  > {
  models: readonly ModelState[];
  now: number;
}

/** What others may read of the scheduler; a copy. */
export function schedulerView({ models, now, ...plain }: Viewed): SchedulerView {
  const list = models.map((model) => modelView(model, plain.swappingTo, now));
  const loaded = models.filter(({ turn }) => turn !== null).sort((a, b) => b.usedSeq - a.usedSeq);
  const inMemory = models.filter(({ turn, name }) => turn !== null || name === plain.swappingTo);
  return {
    ...plain,
    loaded: loaded.map(({ name }) => name),
    depth: list.reduce((sum, model) => sum + model.queued, 0),
    oldestWaitMs: list.reduce((longest, model) => Math.max(longest, model.oldestWaitMs ?? 0), 0),
    memoryUsed: inMemory.reduce((sum, { rules }) => sum + (rules.memory ?? 0), 0),
    models: list,
  };
}

type ModelView = SchedulerView["models"][number];

function modelView(model: ModelState, swappingTo: string | null, now: number): ModelView {
  const { name, queue, running, failures, rules, turn, quietSince } = model;
  const oldest = queue.oldest;
  const retryInMs = failures.refusedFor(now);
  return {
    name,
    state: stateOf(model, swappingTo, now),
    queued: queue.size,
    running,
    oldestWaitMs: oldest === undefined ? null : now - oldest.arrivedAt,
    retryInMs: retryInMs > 0 ? retryInMs : null,
    pinned: rules.pinned,
    idleMs: turn !== null && isIdle(model) ? now - quietSince : null,
  };
}

function stateOf(model: ModelState, swappingTo: string | null, now: number): ModelView["state"] {
  if (model.turn !== null) return "warm";
  if (model.name === swappingTo) return "loading";
  return model.failures.count(now) > 0 ? "failed" : "cold";
}
