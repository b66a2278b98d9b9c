import { anyGlobMatches, closeNames, FarmError } from "@farmgate/shared";
import { allowedModels, type Caller } from "@farmgate/wire";
import type { ModelBook, ServedModel } from "../served-model.ts";

/** The model that a caller means. Throws `model_not_found`, with what it may have meant, or `model_not_allowed`. */
export function allowedModel(spelling: string, models: ModelBook, caller: Caller): ServedModel {
  const model = models.find(spelling);
  if (model === undefined) throw unknownModel(spelling, models, caller);
  if (mayUse(caller, model)) return model;
  const message = `The key "${caller.name}" may not use ${model.name}.`;
  throw new FarmError("model_not_allowed", message, { param: "model" });
}

export function mayUse(caller: Caller, model: ServedModel): boolean {
  return anyGlobMatches(allowedModels(caller), model.name);
}

function unknownModel(spelling: string, { models }: ModelBook, caller: Caller): FarmError {
  const usable = models.filter((model) => mayUse(caller, model));
  const spellings = usable.flatMap(({ name, aliases }) => [name, ...aliases]);
  const close = closeNames(spelling, spellings);
  const hint = close.length === 0 ? "" : ` Did you mean ${close.join(" or ")}?`;
  const message = `There is no model ${JSON.stringify(spelling.slice(0, 200))} here.${hint}`;
  return new FarmError("model_not_found", message, { param: "model" });
}
