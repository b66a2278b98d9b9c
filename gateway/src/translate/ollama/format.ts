import { z } from "zod";

/** `format`: text that says `json`, or a JSON schema. */
export const format = z
  .union([z.literal("json"), z.literal("").transform(() => null), z.record(z.string(), z.unknown())], {
    error: 'expected "json" or a JSON schema',
  })
  .nullish();
type Format = z.output<typeof format>;

/** The form of an answer as OpenAI-like engines take it. */
export function responseFormat(given: Format): Record<string, unknown> {
  if (given === null || given === undefined) return {};
  if (given === "json") return { response_format: { type: "json_object" } };
  return { response_format: { type: "json_schema", json_schema: { name: "answer", schema: given } } };
}

/** The same for a text that is completed; llama.cpp and vLLM each have a field of their own for it there. */
export function completionFormat(given: Format): Record<string, unknown> {
  if (given === null || given === undefined) return {};
  return { ...responseFormat(given), json_schema: given === "json" ? {} : given };
}
