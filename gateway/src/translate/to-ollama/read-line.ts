import { parseJson } from "@farmgate/shared";
import { numberOf, objectOf, textOf } from "../json-fields.ts";
import { type JsonObject, TranslationError } from "../translation.ts";

/** A line of an Ollama stream, or its whole answer. Throws `TranslationError`, also for an error that it tells. */
export function readLine(line: string): JsonObject {
  const parsed = parseJson(line);
  if (parsed === undefined) throw new TranslationError("a line of its stream is no JSON");
  return withoutError(objectOf(parsed));
}

/** As `readLine`, of what is parsed already. */
export function readWhole(answer: unknown): JsonObject {
  const whole = withoutError(objectOf(answer));
  if (whole["done"] !== true) throw new TranslationError("an answer that is not done");
  return whole;
}

/** An error stands in the place of an answer. */
export function withoutError(answer: JsonObject): JsonObject {
  const { error } = answer;
  if (error === undefined || error === null) return answer;
  const text = textOf(error) || textOf(objectOf(error)["message"]) || "an error without a message";
  throw new TranslationError(text.slice(0, 300));
}

/** Its counts, which it leaves out when they are 0. */
export function usageOf(done: JsonObject) {
  const prompt = numberOf(done["prompt_eval_count"]) ?? 0;
  const completion = numberOf(done["eval_count"]) ?? 0;
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

/** Why it stopped; old releases do not say. */
export function finishOf(done: JsonObject): "stop" | "length" {
  return done["done_reason"] === "length" ? "length" : "stop";
}
