import { capacityOf, weightOf } from "./fit.ts";
import type { ModelRules, SchedulerRules } from "./types.ts";

/** The models that must be swapped against each other: all that are not pinned, unless they fit at once. */
export function swappedModels({ budget, models }: Pick<SchedulerRules, "budget" | "models">): readonly ModelRules[] {
  const weight = models.reduce((sum, model) => sum + weightOf(model, budget), 0);
  return weight > capacityOf(budget) ? models.filter((model) => !model.pinned) : [];
}
