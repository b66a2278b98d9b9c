import { FarmError } from "@farmgate/shared";
import { isObject, listOf, numberOf, objectOf, pick } from "../json-fields.ts";
import type { JsonObject } from "../translation.ts";

/** Sampling settings that both know. `num_ctx` is never among them: another one would load the model anew. */
const SAME = {
  temperature: "temperature",
  top_p: "top_p",
  top_k: "top_k",
  min_p: "min_p",
  seed: "seed",
  frequency_penalty: "frequency_penalty",
  presence_penalty: "presence_penalty",
  repeat_penalty: "repeat_penalty",
  max_tokens: "num_predict",
  max_completion_tokens: "num_predict",
};

/** What Ollama has no word for, and would leave out without a word. */
const LACKS: Readonly<Record<string, (value: unknown) => boolean>> = {
  n: (value) => (numberOf(value) ?? 1) !== 1,
  best_of: (value) => (numberOf(value) ?? 1) !== 1,
  logprobs: (value) => value !== false,
  echo: (value) => value === true,
  logit_bias: (value) => !isObject(value) || Object.keys(value).length > 0,
  audio: () => true,
  modalities: (value) => listOf(value).some((kind) => kind !== "text"),
  web_search_options: () => true,
  functions: () => true,
  // What other engines hold an answer's form to, beside `response_format`.
  grammar: (value) => value !== "",
  json_schema: () => true,
  structured_outputs: () => true,
  guided_json: () => true,
  guided_regex: () => true,
  guided_choice: () => true,
  guided_grammar: () => true,
};

/** The settings of a request as Ollama's `options`; an empty object: none. */
export function toOptions(body: JsonObject): { options?: object } {
  const stop = body["stop"];
  const stops = stop === undefined || stop === null ? {} : { stop: Array.isArray(stop) ? stop : [stop] };
  const options = { ...pick(body, SAME), ...stops };
  return Object.keys(options).length === 0 ? {} : { options };
}

/** Throws `not_supported` for a setting whose answer Ollama's own API cannot give. */
export function refuseWhatOllamaLacks(body: JsonObject): void {
  for (const [field, isAsked] of Object.entries(LACKS)) {
    const value = body[field];
    if (value === undefined || value === null || !isAsked(value)) continue;
    throw new FarmError("not_supported", `"${field}" is not supported by the workers with this model.`, {
      param: field,
    });
  }
}

export function wantsUsage(body: JsonObject): boolean {
  return objectOf(body["stream_options"])["include_usage"] === true;
}
