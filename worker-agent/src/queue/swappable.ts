import { tooHeavy } from "./fit.ts";
import type { ModelRules, SchedulerRules } from "./types.ts";

/**
 * The models that must be swapped against each other: all that ever leave memory for another, unless they can all be
 * loaded at once beside those that stay.
 */
export function swappedModels({ budget, models }: Pick<SchedulerRules, "budget" | "models">): readonly ModelRules[] {
  const leaving = models.filter((model) => !model.pinned && (model.unloads || model.replacedIn !== null));
  const [first, ...others] = models;
  const fit = first === undefined || tooHeavy(first, others, budget) <= 0;
  // Of those that replace one another (`replaces` in fit.ts) each place has one at a time.
  const places = leaving.filter(({ unloads }) => !unloads).map(({ replacedIn }) => replacedIn);
  const apart = new Set(places).size < places.length;
  return fit && !apart ? [] : leaving;
}
