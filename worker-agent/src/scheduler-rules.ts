import type { AgentConfig } from "./config.ts";
import type { ModelRules, SchedulerRules } from "./queue/types.ts";
import type { ServedModel } from "./served-model.ts";

/** What the scheduler must know of the configuration and of the models as they are now. */
export function rulesOf(config: AgentConfig, models: readonly ServedModel[]): SchedulerRules {
  const { queue, swap, memory } = config;
  return {
    maxBatch: queue.maxBatch,
    maxWait: queue.maxWait,
    minResident: queue.minResident,
    gather: queue.gather,
    maxDepth: queue.maxDepth,
    failureLimit: swap.failureLimit,
    failureReset: swap.failureReset,
    budget: memory.budget,
    models: models.map((model) => modelRulesOf(config, model)),
  };
}

export function modelRulesOf({ swap }: AgentConfig, model: ServedModel): ModelRules {
  const { name, slots, memoryBytes, pinned, ttlMs, preload, heldBy } = model;
  return {
    name,
    slots,
    memory: memoryBytes,
    pinned,
    ttl: ttlMs,
    preload,
    restart: heldBy.kind === "command",
    unloads: heldBy.kind !== "script" || swap.unload,
  };
}

/**
 * Whether the load of the first makes the second go by itself: the swap script switches from one model to another,
 * unless it also knows `unload` and has to, so that several can be loaded beside each other.
 */
export function replacesBy({ swap, memory }: AgentConfig) {
  return (model: ServedModel, victim: ServedModel): boolean => {
    if (model.heldBy.kind !== "script" || victim.heldBy.kind !== "script") return false;
    return !swap.unload || memory.budget === 0;
  };
}
