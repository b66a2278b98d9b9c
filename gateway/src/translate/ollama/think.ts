import { z } from "zod";
import type { TranslationContext } from "../translation.ts";
import { isLenient, knowsEffortNone } from "../dialect.ts";

/** `think`: whether, or how much. */
export const think = z
  .union([z.boolean(), z.enum(["low", "medium", "high", "max"])], {
    error: 'expected true, false, "low", "medium", "high" or "max"',
  })
  .nullish();

/**
 * Whether the model is to think, as engines take it: `reasoning_effort` is OpenAI's own and knows no plain "yes";
 * `chat_template_kwargs` is how llama-server, vLLM and SGLang switch a model's template. A model that cannot do
 * otherwise pays no heed to either.
 */
export function thinkFields(given: z.output<typeof think>, { engine }: TranslationContext): Record<string, unknown> {
  if (given === null || given === undefined) return {};
  const fields: Record<string, unknown> = {};
  if (given === false && knowsEffortNone(engine)) fields["reasoning_effort"] = "none";
  // No other API has a "max".
  if (typeof given === "string") fields["reasoning_effort"] = given === "max" ? "high" : given;
  if (isLenient(engine)) fields["chat_template_kwargs"] = { enable_thinking: given !== false };
  return fields;
}
