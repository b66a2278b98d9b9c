import type { AgentConfig } from "@farmgate/worker-agent";
import type { GatewayConfig } from "@farmgate/gateway";
import type { AgentWorker, LanFarm, LanWorker, ModelSpeed } from "./farm.ts";

/** The farm with another gateway configuration. */
export function withGateway(farm: LanFarm, change: (gateway: GatewayConfig) => GatewayConfig): LanFarm {
  return { ...farm, gateway: change(farm.gateway) };
}

/** The farm with other workers in the places of those that `change` is given. */
function withWorkers(farm: LanFarm, change: (worker: LanWorker) => LanWorker): LanFarm {
  return { ...farm, workers: farm.workers.map(change) };
}

/** The farm with other settings of its agents' queues. */
export function withQueues(
  farm: LanFarm,
  change: (queue: AgentConfig["queue"]) => Partial<AgentConfig["queue"]>,
): LanFarm {
  return withWorkers(farm, (worker) => {
    if (worker.kind === "engine") return worker;
    const queue = { ...worker.agent.queue, ...change(worker.agent.queue) };
    return { ...worker, agent: { ...worker.agent, queue } };
  });
}

/** The farm in which the models of one worker have other speeds. */
export function withSpeeds(farm: LanFarm, name: string, change: (speed: ModelSpeed) => ModelSpeed): LanFarm {
  return withWorkers(farm, (worker) => {
    if (worker.config.name !== name) return worker;
    if (worker.kind === "agent") {
      return { ...worker, models: worker.models.map((model) => ({ ...model, speed: change(model.speed) })) };
    }
    const speeds = new Map([...worker.speeds].map(([model, speed]) => [model, change(speed)]));
    return { ...worker, speeds };
  });
}

/** One more slot for each model of the worker, in its engine and in its agent. */
export function withOneMoreSlot(farm: LanFarm, name: string): LanFarm {
  const faster = withSpeeds(farm, name, (speed) => ({ ...speed, slots: speed.slots + 1 }));
  return withWorkers(faster, (worker) => {
    if (worker.config.name !== name) return worker;
    if (worker.kind === "engine") {
      return { ...worker, options: { ...worker.options, slots: worker.options.slots + 1 } };
    }
    const models = worker.models.map((model) => {
      return { ...model, served: { ...model.served, slots: model.served.slots + 1 } };
    });
    return { ...worker, models };
  });
}

/** So much more memory that the largest model stays beside the others; null: all models have room already. */
export function withMoreMemory(farm: LanFarm, name: string): LanFarm | null {
  const worker = farm.workers.find(({ config }) => config.name === name);
  if (worker === undefined) return null;
  if (worker.kind === "engine") {
    const { options } = worker;
    if (options.maxLoaded === 0 || options.maxLoaded >= options.models.length) return null;
    const more = { ...worker, options: { ...options, maxLoaded: options.maxLoaded + 1 } };
    return withWorkers(farm, (one) => (one === worker ? more : one));
  }
  const more = roomier(worker);
  return more === null ? null : withWorkers(farm, (one) => (one === worker ? more : one));
}

function roomier(worker: AgentWorker): AgentWorker | null {
  const { agent, models } = worker;
  const swapped = models.filter(({ served }) => served.leaves !== "never");
  if (agent.memory.budget > 0) {
    const sizes = swapped.map(({ served }) => served.memoryBytes ?? agent.memory.budget);
    const needed = sizes.reduce((sum, size) => sum + size, 0);
    if (needed <= agent.memory.budget) return null;
    return { ...worker, agent: { ...agent, memory: { budget: agent.memory.budget + Math.max(...sizes) } } };
  }
  // One at a time: from now on two, whatever they weigh.
  const pinned = swapped.filter(({ served }) => served.pinned).length;
  if (swapped.length - pinned < 2) return null;
  const light = models.map((model) => {
    return { ...model, served: { ...model.served, memoryBytes: 1, leaves: "call" as const } };
  });
  return { ...worker, models: light, agent: { ...agent, memory: { budget: pinned + 2 } } };
}

/** A second worker like this one beside it. */
export function withAnother(farm: LanFarm, name: string): LanFarm {
  const names = new Set(farm.workers.map(({ config }) => config.name));
  let number = 2;
  while (names.has(`${name}-${number}`)) number += 1;
  const workers = farm.workers.flatMap((worker) => {
    if (worker.config.name !== name) return [worker];
    return [worker, { ...worker, config: { ...worker.config, name: `${name}-${number}` } }];
  });
  return { ...farm, workers };
}

/** The gateway keeps so many warm copies of the model. */
export function withKeptWarm(farm: LanFarm, model: string, copies: number): LanFarm {
  return withGateway(farm, (gateway) => {
    const { models } = gateway;
    return { ...gateway, models: { ...models, keepWarm: { ...models.keepWarm, [model]: copies } } };
  });
}
