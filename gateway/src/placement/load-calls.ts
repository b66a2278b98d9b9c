import { adapterFor, type CatalogModel, type EngineCall, type EngineName, smallestRequest } from "@farmgate/engines";

/**
 * What loads a model that nobody waits for: the calls to try in order, the next one where the last is answered 404 or
 * 405 (an older release). Empty: nothing does.
 */
export function loadCalls(engine: EngineName | null, model: CatalogModel): readonly EngineCall[] {
  if (engine === null) return [];
  const adapter = adapterFor(engine);
  const smallest = adapter.loadsOnRequest ? smallestRequest(model) : null;
  return [adapter.load(model), smallest].filter((call) => call !== null);
}
