import { type EngineName, MAYBE_SPOKEN, spokenBy } from "@farmgate/engines";
import { type Api, FarmError } from "@farmgate/shared";
import type { ServedModel } from "../served-model.ts";

/**
 * What a model can be asked for: as its engine says of it, else as that kind of engine has it. `learned` is the engine
 * by its own list, once the model was loaded. Until then it is all that it may speak: a caller who is refused for that
 * would never get it loaded.
 */
export function spokenOf({ apis, engine }: ServedModel, learned: EngineName | null): Iterable<Api> {
  const kind = engine ?? learned;
  return apis ?? (kind === null ? MAYBE_SPOKEN : spokenBy(kind));
}

/** Whether the model can be asked so, as far as is known. */
export function maySpeak(api: Api, model: ServedModel, learned: EngineName | null): boolean {
  const kind = model.engine ?? learned;
  if (model.apis === null && kind === null) return true;
  return model.apis?.includes(api) ?? spokenBy(kind).has(api);
}

/** Throws `not_supported` for what the engine is known not to have, so that its model is not loaded for nothing. */
export function refuseUnspoken(api: Api, model: ServedModel, learned: EngineName | null): void {
  if (maySpeak(api, model, learned)) return;
  const served = [...spokenOf(model, learned)].join(", ") || "nothing that is offered here";
  throw new FarmError("not_supported", `${model.name} is not served as ${api}: its engine serves ${served} with it.`);
}
