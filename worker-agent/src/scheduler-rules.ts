import type { AgentConfig } from "./config.ts";
import type { ModelRules, SchedulerRules } from "./queue/types.ts";
import type { HeldBy, ServedModel } from "./served-model.ts";

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
    models: models.map(modelRulesOf),
  };
}

export function modelRulesOf(model: ServedModel): ModelRules {
  const { name, slots, memoryBytes, pinned, ttlMs, preload, heldBy, leaves } = model;
  return {
    name,
    slots,
    // What stays for as long as its engine runs makes no room for anything by going, and needs none to come.
    memory: leaves === "never" ? (memoryBytes ?? 0) : memoryBytes,
    pinned,
    ttl: ttlMs,
    preload,
    restart: heldBy.kind === "command",
    unloads: leaves === "call",
    replacedIn: leaves === "replaced" ? keptIn(heldBy) : null,
  };
}

/**
 * Whether the load of the first makes the second go by itself: an engine that can do nothing else, or the swap script,
 * unless it also knows `unload` and has to, since several of its models can be loaded beside each other: within a
 * budget, or beside one that is pinned.
 */
export function replacesBy({ memory, models }: AgentConfig) {
  const alone = memory.budget === 0 && !models.some((model) => model.command === undefined && model.pinned);
  return (model: ServedModel, victim: ServedModel): boolean => {
    if (keptIn(model.heldBy) !== keptIn(victim.heldBy) || model.heldBy.kind === "command") return false;
    const switches = model.heldBy.kind === "script" && alone;
    return switches || (model.leaves === "replaced" && victim.leaves === "replaced");
  };
}

/** A name for what holds one model at a time. */
function keptIn(heldBy: HeldBy): string {
  return heldBy.kind === "engine" ? heldBy.url : heldBy.kind;
}
