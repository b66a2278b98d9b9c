import { modelsByName, sameList, showModels } from "./show-models.ts";
import { newWorker, type TrackedWorker } from "./tracked.ts";
import type { WorkerConfig } from "./types.ts";

/**
 * The workers of a new configuration, in its order. One whose address and engine stay keeps what is known of it;
 * a new key gives a misconfigured one another chance at once.
 */
export function reduceConfigured(
  workers: readonly TrackedWorker[],
  configs: readonly WorkerConfig[],
): readonly TrackedWorker[] {
  const known = new Map(workers.map((worker) => [worker.config.name, worker]));
  return configs.map((config) => {
    const worker = known.get(config.name);
    if (worker === undefined) return newWorker(config);
    // Who took it out of routing did so by its name, wherever it is now.
    if (!sameTarget(worker.config, config))
      return showModels({ ...newWorker(config), drainedHere: worker.drainedHere });
    return sameConfig(worker.config, config) ? worker : withConfig(worker, config);
  });
}

function withConfig(worker: TrackedWorker, config: WorkerConfig): TrackedWorker {
  const newKey = config.apiKey !== worker.config.apiKey;
  return {
    ...worker,
    config,
    health: newKey && worker.health === "misconfigured" ? "unknown" : worker.health,
    ...(sameModels(worker.config, config) ? {} : modelsByName(worker.report?.models ?? [], config)),
  };
}

function sameTarget(a: WorkerConfig, b: WorkerConfig): boolean {
  return a.url === b.url && a.engine === b.engine;
}

function sameModels(a: WorkerConfig, b: WorkerConfig): boolean {
  return sameList(a.models.allow, b.models.allow) && sameList(a.models.deny, b.models.deny);
}

function sameConfig(a: WorkerConfig, b: WorkerConfig): boolean {
  return (
    sameTarget(a, b) &&
    sameModels(a, b) &&
    a.weight === b.weight &&
    a.maxConcurrent === b.maxConcurrent &&
    a.apiKey === b.apiKey &&
    (a.ca ?? null) === (b.ca ?? null) &&
    a.drainOnAbort.bytes === b.drainOnAbort.bytes &&
    a.drainOnAbort.time === b.drainOnAbort.time
  );
}
