import { canGoFor, replaces, tooHeavy, weightOf } from "./fit.ts";
import type { ModelRules, SchedulerRules, SchedulerView } from "./types.ts";

/** Learned figures, in milliseconds; null where nothing is known yet. */
export interface ForecastCosts {
  /** The mean answer of a model, from its grant to its end. */
  serviceMs(model: string): number | null;
  /** The mean load of a model that begins now. */
  loadMs(model: string): number | null;
}

export type ForecastRules = Pick<SchedulerRules, "maxWait" | "minResident" | "budget" | "models">;

type ModelView = SchedulerView["models"][number];
type Model = ModelView & ModelRules;

/**
 * How long a request for each model that came now would wait for its grant, in milliseconds, by the means of what was
 * learned. A forecast, not a promise (that is bound.ts): it takes every answer to be a mean one and lets nobody else
 * come.
 *
 * 1. Nobody takes new requests, or this model is refused for its failures: null, there would be no grant.
 * 2. Loaded with a free slot and nobody before it: 0.
 * 3. Loaded: until a slot is free for it; each mean answer frees one in the mean answer's time over the slots.
 * 4. Being loaded: the rest of the load, half of a mean one, and then as 3.
 * 5. Cold: what is before it (a load under way; other cold models that somebody waits for, each with its load and its
 *    turn), the time until those that must make room may go, its load, and then as 3.
 *
 * null where a figure is needed that is not known.
 */
export function predictedWaits(
  view: SchedulerView,
  rules: ForecastRules,
  costs: ForecastCosts,
): ReadonlyMap<string, number | null> {
  const ruled = new Map(rules.models.map((model) => [model.name, model]));
  const models = view.models.flatMap((state) => {
    const rule = ruled.get(state.name);
    return rule === undefined ? [] : [{ ...rule, ...state }];
  });
  const scene = sceneOf(models, rules, costs);
  const wait = (model: Model) => (view.draining ? null : predictedWait(model, scene)); // (1)
  return new Map(models.map((model) => [model.name, wait(model)]));
}

/** What every model's forecast looks at: an engine may list thousands of models of which few are in memory. */
interface Scene {
  rules: ForecastRules;
  costs: ForecastCosts;
  /** Loaded ones, those first whose turn is over first. */
  warm: readonly { one: Model; left: number }[];
  pinned: readonly Model[];
  /** Not loaded, and waited for or on their way. */
  coming: readonly Model[];
}

function sceneOf(models: readonly Model[], rules: ForecastRules, costs: ForecastCosts): Scene {
  const warm = models
    .filter(({ state }) => state === "warm")
    .map((one) => ({ one, left: turnLeft(one, costs, rules) ?? Number.POSITIVE_INFINITY }))
    .sort((a, b) => a.left - b.left);
  const coming = models.filter(({ state, queued }) => state !== "warm" && (queued > 0 || state === "loading"));
  return { rules, costs, warm, pinned: models.filter(({ pinned }) => pinned), coming };
}

function predictedWait(model: Model, scene: Scene) {
  const { costs } = scene;
  if (model.retryInMs !== null) return null; // (1)
  const line = slotWait(model, costs); // (2), (3)
  switch (model.state) {
    case "warm":
      return line;
    case "loading":
      return sum([restOfLoad(model, costs), line]); // (4)
    case "cold":
    case "failed":
      return sum([...before(model, scene), roomFor(model, scene), costs.loadMs(model.name), line]); // (5)
  }
}

/** Until a slot of the model is free for one more, once it is loaded. */
function slotWait(model: Model, costs: ForecastCosts): number | null {
  const ahead = model.queued + model.running + 1 - model.slots;
  if (ahead <= 0) return 0;
  const service = costs.serviceMs(model.name);
  return service === null ? null : (ahead * service) / model.slots;
}

/** By then half of its load is over, as often as not. */
function restOfLoad(model: Model, costs: ForecastCosts): number | null {
  const load = costs.loadMs(model.name);
  return load === null ? null : load / 2;
}

function before(model: Model, { coming, pinned, rules, costs }: Scene) {
  return coming
    .filter((other) => other !== model)
    .map((other) => {
      const load = other.state === "loading" ? restOfLoad(other, costs) : costs.loadMs(other.name);
      return sum([load, fitsBeside(model, other, pinned, rules) ? 0 : turnLeft(other, costs, rules)]);
    });
}

/** Whether the two can be loaded together, so that the turn of one need not end for the other. */
function fitsBeside(model: Model, other: Model, pinned: readonly Model[], { budget }: ForecastRules): boolean {
  const beside = [...pinned.filter((one) => one !== model && one !== other), other];
  return tooHeavy(model, beside, budget) <= 0 && !beside.some((one) => replaces(model, one));
}

/** Until enough of the loaded models may go: those first whose turn is over first. null: not known, or never. */
function roomFor(model: Model, { warm, pinned, rules }: Scene): number | null {
  const { budget } = rules;
  const staying = new Set([...pinned.filter((one) => one !== model), ...warm.map(({ one }) => one)]);
  let tooMuch = tooHeavy(model, staying, budget);
  let replaced = [...staying].filter((one) => replaces(model, one)).length;
  const fits = () => tooMuch <= 0 && replaced === 0;
  let wait = 0;
  for (const { one, left } of warm) {
    if (fits()) break;
    if (!canGoFor(one, model)) continue;
    tooMuch -= weightOf(one, budget);
    if (replaces(model, one)) replaced -= 1;
    wait = left;
  }
  return wait < Number.POSITIVE_INFINITY && fits() ? wait : null;
}

/**
 * Until nothing is left for a loaded model, but not longer than its turn can last when another one is due: `maxWait`
 * or its own load, whichever is longer, and the answers under way.
 */
function turnLeft(model: Model, costs: ForecastCosts, rules: ForecastRules): number | null {
  const work = model.queued + model.running;
  if (work === 0) return 0;
  const service = costs.serviceMs(model.name);
  if (service === null) return null;
  const longest = Math.max(rules.maxWait, rules.minResident, costs.loadMs(model.name) ?? 0) + service;
  return Math.min((work * service) / model.slots, longest);
}

function sum(parts: readonly (number | null)[]): number | null {
  return parts.reduce((all, part) => (all === null || part === null ? null : all + part), 0 as number | null);
}
