import type { ModelState } from "./model-state.ts";
import type { SchedulerView } from "./types.ts";

interface Viewed extends Pick<SchedulerView, "draining" | "loaded" | "swappingTo" | "swaps"> {
  models: readonly ModelState[];
  now: number;
}

/** What others may read of the scheduler; a copy. */
export function schedulerView({ models, now, ...plain }: Viewed): SchedulerView {
  const list = models.map((model) => {
    const { name, queue, running, failures } = model;
    const oldest = queue.oldest;
    const retryInMs = failures.refusedFor(now);
    return {
      name,
      state: stateOf(model, plain, now),
      queued: queue.size,
      running,
      oldestWaitMs: oldest === undefined ? null : now - oldest.arrivedAt,
      retryInMs: retryInMs > 0 ? retryInMs : null,
    };
  });
  return {
    ...plain,
    depth: list.reduce((sum, model) => sum + model.queued, 0),
    inflight: list.reduce((sum, model) => sum + model.running, 0),
    oldestWaitMs: list.reduce((longest, model) => Math.max(longest, model.oldestWaitMs ?? 0), 0),
    models: list,
  };
}

type ModelView = SchedulerView["models"][number];

function stateOf(model: ModelState, at: Pick<Viewed, "loaded" | "swappingTo">, now: number): ModelView["state"] {
  if (model.name === at.loaded) return "warm";
  if (model.name === at.swappingTo) return "loading";
  return model.failures.count(now) > 0 ? "failed" : "cold";
}
