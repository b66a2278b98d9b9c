import type { AgentConfig } from "../config.ts";
import { promisedWait, termsOf } from "../queue/promise.ts";
import { swappedModels } from "../queue/swappable.ts";
import type { ModelRules } from "../queue/types.ts";
import { rulesOf } from "../scheduler-rules.ts";
import { ModelBook } from "../served-model.ts";

const MOST_PLACES = 1_000;

/** What a configuration promises on waiting, and what it stands on. Times in milliseconds. */
export interface ConfigPromise {
  /** For each place from 1 to the fewest slots of a model, or to 1,000; places with one bound are together. */
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
  const { models: configured } = new ModelBook(config);
  const attached = namedOfEngines(config);
  const rules = rulesOf(config, configured);
  const models = [...rules.models, ...attached.map((model) => model.rules)];
  if (models.length === 0 || config.queue.policy !== "greedy") return null;
  const timeouts = new Map(configured.map(({ name, timeoutMs }) => [name, timeoutMs]));
  for (const model of attached) timeouts.set(model.rules.name, model.timeoutMs);
  const all = { ...rules, models };
  const swapped = swappedModels(all);
  const concerned = swapped.length > 0 ? swapped : models;
  const longest = { loadMs: (name: string) => timeouts.get(name) ?? 0, answerMs: config.queue.longestAnswer };
  const terms = termsOf(all, longest);
  const worst = (place: number) =>
    Math.max(...concerned.map((model) => promisedWait(model, { place, loaded: false }, terms)));
  return {
    bounds: boundsUpTo(Math.min(MOST_PLACES, ...concerned.map((model) => model.slots)), worst),
    swapped: swapped.map(({ name }) => name),
    longestLoadMs: Math.max(...concerned.map(({ name }) => longest.loadMs(name))),
    longestAnswerMs: longest.answerMs,
  };
}

function boundsUpTo(slots: number, worst: (place: number) => number): ConfigPromise["bounds"] {
  const bounds: { from: number; to: number; ms: number }[] = [];
  for (let place = 1; place <= slots; place += 1) {
    const ms = worst(place);
    const last = bounds.at(-1);
    if (last?.ms === ms) last.to = place;
    else bounds.push({ from: place, to: place, ms });
  }
  return bounds;
}

/** The models of attached engines that the file names, as far as a bound depends on them. */
function namedOfEngines({ engines, swap }: AgentConfig): { rules: ModelRules; timeoutMs: number }[] {
  const besides = { ttl: 0, preload: false, restart: false, unloads: true };
  return engines.flatMap((engine) =>
    Object.entries(engine.models).map(([name, { slots, memory, pinned, timeout }]) => ({
      rules: { name, slots: slots ?? engine.slots ?? 1, memory: memory === 0 ? null : memory, pinned, ...besides },
      timeoutMs: timeout ?? swap.timeout,
    })),
  );
}
