import { formatSize } from "@farmgate/shared";
import type { ModelRules } from "./types.ts";

/**
 * What may be loaded together.
 *
 * Budget 0: one model at a time, beside which pinned ones and those that nothing takes out of memory do not count.
 * Else the bytes of all loaded models and of the one on its way are at most the budget; a model of unknown size counts
 * as the whole of it. To have one rule for both, a model's weight is counted in bytes, or in models at budget 0.
 */
export type Weighed = Pick<ModelRules, "name" | "memory" | "pinned" | "unloads" | "replacedIn">;

/** In the unit of `weightOf`. */
export function capacityOf(budget: number): number {
  return budget === 0 ? 1 : budget;
}

export function weightOf(model: Weighed, budget: number): number {
  if (budget === 0) return model.pinned || (!model.unloads && model.replacedIn === null) ? 0 : 1;
  return model.memory ?? budget;
}

/** By how much the candidate is too heavy beside the others; 0 or less: it fits. */
export function tooHeavy(candidate: Weighed, others: Iterable<Weighed>, budget: number): number {
  let sum = weightOf(candidate, budget);
  for (const other of others) sum += weightOf(other, budget);
  return sum - capacityOf(budget);
}

/** Of the models that a script or an engine cannot unload only one is ever loaded: the load of another replaces it. */
export function replaces(candidate: Weighed, resident: Weighed): boolean {
  if (candidate.unloads || resident.unloads || candidate.replacedIn === null) return false;
  return candidate.replacedIn === resident.replacedIn;
}

/** Whether the resident could ever make room for the candidate. */
export function canGoFor(resident: Weighed, candidate: Weighed): boolean {
  return !resident.pinned && (resident.unloads || replaces(candidate, resident));
}

/** Why the candidate can never be loaded beside the pinned ones of these models, in words; null: it can. */
export function neverFits(candidate: Weighed, models: Iterable<Weighed>, budget: number): string | null {
  const pinned = [...models].filter((model) => model.pinned && model.name !== candidate.name);
  const bar = pinned.find((model) => replaces(candidate, model));
  if (bar !== undefined) return `it would replace ${bar.name}, which is pinned`;
  if (tooHeavy(candidate, pinned, budget) <= 0) return null;
  const left = budget - pinned.reduce((sum, model) => sum + weightOf(model, budget), 0);
  const needs = candidate.memory === null ? `the whole budget (its size is not known)` : formatSize(candidate.memory);
  const beside = pinned.length === 0 ? "" : ` beside the pinned models`;
  return `it needs ${needs}, and there are ${formatSize(Math.max(0, left))}${beside}`;
}
