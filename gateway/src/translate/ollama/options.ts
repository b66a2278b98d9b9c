import { z } from "zod";
import type { TranslationContext } from "../translation.ts";
import { repeatPenaltyNames } from "../dialect.ts";

const number = z.number().nullish();

/** Ollama's `options`, as far as other engines have them; a seed, a context or a number of layers of 0 is one too. */
export const options = z
  .object({
    temperature: number,
    top_p: number,
    top_k: number,
    min_p: number,
    typical_p: number,
    seed: number,
    num_predict: number,
    repeat_penalty: number,
    repeat_last_n: number,
    presence_penalty: number,
    frequency_penalty: number,
    mirostat: number,
    mirostat_tau: number,
    mirostat_eta: number,
    stop: z.union([z.string(), z.array(z.string())]).nullish(),
  })
  .nullish();
export type Options = z.output<typeof options>;

/** Called alike everywhere. */
const SAME = [
  "temperature",
  "top_p",
  "top_k",
  "min_p",
  "typical_p",
  "seed",
  "repeat_last_n",
  "presence_penalty",
  "frequency_penalty",
  "mirostat",
  "mirostat_tau",
  "mirostat_eta",
] as const;

/**
 * How to sample, as OpenAI-like engines take it. What a model is loaded with (`num_ctx`, `num_gpu`, ...) is left out:
 * it is the engine's own to say, and Ollama itself would load the model anew for it.
 */
export function samplingFields(given: Options, { engine }: TranslationContext): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const name of SAME) if (typeof given?.[name] === "number") fields[name] = given[name];
  if (typeof given?.repeat_penalty === "number") {
    for (const name of repeatPenaltyNames(engine)) fields[name] = given.repeat_penalty;
  }
  const stop = given?.stop ?? [];
  if (stop.length > 0) fields["stop"] = stop;
  return fields;
}

/** `num_predict`: at most so many tokens; null: as many as it takes (Ollama says so with 0 and below as well). */
export function tokenLimit(given: Options): number | null {
  const limit = given?.num_predict ?? 0;
  return limit > 0 ? Math.floor(limit) : null;
}
