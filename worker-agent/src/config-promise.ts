import type { AgentConfig } from "./config.ts";
import { promisedWait } from "./queue/promise.ts";
import { swappedModels } from "./queue/swappable.ts";
import type { ModelRules, SchedulerRules } from "./queue/types.ts";

/** What a configuration promises on waiting, and what it stands on. Times in milliseconds. */
export interface ConfigPromise {
  /** For each place from 1 to the fewest slots of a model; places with one bound are together. */
  bounds: readonly { from: number; to: number; ms: number }[];
  /** Models that are swapped against each other; empty: all of them stay loaded. */
  swapped: readonly string[];
  longestLoadMs: number;
  longestAnswerMs: number;
}

/**
 * The promise on waiting (`queue/promise.ts`) of a configuration alone, before anything was learned: loads take up to
 * their time-outs, answers up to `queue.longestAnswer`. Of an attached engine's models those count that the file names.
 * null: there is no model, or a policy that keeps none of the rules which the promise stands on.
 */
export function promiseOf(config: AgentConfig): ConfigPromise | null {
  const known = knownModels(config);
  if (known.length === 0 || config.queue.policy !== "greedy") return null;
  const { longestAnswer: longestAnswerMs, ...queue } = config.queue;
  const { failureLimit, failureReset } = config.swap;
  const models = known.map(({ rules }) => rules);
  const rules: SchedulerRules = { ...queue, failureLimit, failureReset, budget: config.memory.budget, models };
  const swapped = swappedModels(rules);
  const concerned = swapped.length > 0 ? swapped : models;
  const timeouts = new Map(known.map((model) => [model.rules.name, model.timeoutMs]));
  const loadMs = (model: string) => timeouts.get(model) ?? 0;
  const longest = { loadMs, answerMs: longestAnswerMs };
  const worst = (place: number) =>
    Math.max(...concerned.map((model) => promisedWait(model, { place, loaded: false }, rules, longest)));
  const slots = Math.min(...concerned.map((model) => model.slots));
  const bounds: { from: number; to: number; ms: number }[] = [];
  for (let place = 1; place <= slots; place += 1) {
    const ms = worst(place);
    const last = bounds.at(-1);
    if (last?.ms === ms) last.to = place;
    else bounds.push({ from: place, to: place, ms });
  }
  const longestLoadMs = Math.max(...concerned.map(({ name }) => loadMs(name)));
  return { bounds, swapped: swapped.map(({ name }) => name), longestLoadMs, longestAnswerMs };
}

interface Known {
  rules: ModelRules;
  timeoutMs: number;
}

function knownModels({ models, engines, swap }: AgentConfig): Known[] {
  const own = models.map(({ name, slots, memory, pinned, timeout }) => ({
    rules: modelRules(name, slots, memory, pinned),
    timeoutMs: timeout ?? swap.timeout,
  }));
  const attached = engines.flatMap((engine) =>
    Object.entries(engine.models).map(([name, { slots, memory, pinned, timeout }]) => ({
      rules: modelRules(name, slots ?? engine.slots ?? 1, memory, pinned),
      timeoutMs: timeout ?? swap.timeout,
    })),
  );
  return [...own, ...attached];
}

/** What a bound depends on; the rest is no part of it. */
function modelRules(name: string, slots: number, memory: number, pinned: boolean): ModelRules {
  const besides = { ttl: 0, preload: false, restart: false, unloads: true };
  return { name, slots, memory: memory === 0 ? null : memory, pinned, ...besides };
}
