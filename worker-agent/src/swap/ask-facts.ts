import type { ServedModel } from "../served-model.ts";
import type { EngineAsker } from "./ask-engine.ts";
import { type EngineFacts, factsOf } from "./engine-list.ts";

/** Limit on the question for facts, in milliseconds: they are no more than nice to have. */
const FACTS_MS = 2_000;

/** What a loaded model's engine tells of it. */
export async function askFacts(model: ServedModel, asker: EngineAsker, signal: AbortSignal): Promise<EngineFacts> {
  const list = await asker.ask({ url: `${model.url}/v1/models`, json: null, ca: model.ca, limitMs: FACTS_MS, signal });
  return factsOf(list.status === 200 ? list.text : "", model.engineName);
}
