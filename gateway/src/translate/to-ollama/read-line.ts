import { parseJson } from "@farmgate/shared";
import { countOf, isObject, objectOf } from "../json-fields.ts";
import { refuseTold } from "../told-error.ts";
import { type JsonObject, TranslationError } from "../translation.ts";

/** A line of an Ollama stream, or its whole answer. Throws `TranslationError`, also for an error that it tells. */
export function readLine(line: string): JsonObject {
  const parsed = parseJson(line);
  if (!isObject(parsed)) throw new TranslationError("a line of its stream that is no JSON object");
  refuseTold(parsed);
  return parsed;
}

/** As `readLine`, of what is parsed already. */
export function readWhole(answer: unknown): JsonObject {
  const whole = objectOf(answer);
  refuseTold(whole);
  if (whole["done"] !== true) throw new TranslationError("an answer that is not done");
  return whole;
}

/** Its counts, which it leaves out when they are 0. */
export function usageOf(done: JsonObject) {
  const prompt = countOf(done["prompt_eval_count"]) ?? 0;
  const completion = countOf(done["eval_count"]) ?? 0;
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

/** Why it stopped; old releases do not say. */
export function finishOf(done: JsonObject): "stop" | "length" {
  return done["done_reason"] === "length" ? "length" : "stop";
}
