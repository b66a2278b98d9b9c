import { tooHeavy } from "./fit.ts";
import type { ModelRules, SchedulerRules } from "./types.ts";

/**
 * The models that must be swapped against each other: all that ever leave memory for another, unless they can all be
 * loaded at once beside those that stay. Of those that one script or engine replaces by one another (`replaces`) only one
 * is ever loaded, whatever fits.
 */
export function swappedModels({ budget, models }: Pick<SchedulerRules, "budget" | "models">): readonly ModelRules[] {
  const leaving = models.filter((model) => !model.pinned && (model.unloads || model.replacedIn !== null));
  const [first, ...others] = models;
  const fit = first === undefined || tooHeavy(first, others, budget) <= 0;
  const replaced = leaving.filter(({ unloads }) => !unloads);
  const apart = new Set(replaced.map(({ replacedIn }) => replacedIn)).size < replaced.length;
  return fit && !apart ? [] : leaving;
}
