import type { JsonObject } from "../translation.ts";
import { isObject } from "./fields.ts";

/** Tokens of a message. `input_tokens` are those that were computed, without what came from the engine's cache. */
export interface MessageUsage {
  input_tokens: number;
  cache_creation_input_tokens: number;
  cache_read_input_tokens: number;
  output_tokens: number;
}

/** Anthropic's callers expect numbers: what is not known is 0. */
export const NO_USAGE: MessageUsage = usage(0, 0, 0);

/** What a whole answer or one event tells; null: nothing. llama.cpp tells its timings where no usage was asked for. */
export function usageOf({ usage: told, timings }: JsonObject): MessageUsage | null {
  if (isObject(told)) {
    const details = told["prompt_tokens_details"];
    const cached = isObject(details) ? count(details["cached_tokens"]) : 0;
    return usage(count(told["prompt_tokens"]) - cached, cached, count(told["completion_tokens"]));
  }
  if (!isObject(timings)) return null;
  return usage(count(timings["prompt_n"]), count(timings["cache_n"]), count(timings["predicted_n"]));
}

function usage(input: number, cached: number, output: number): MessageUsage {
  return {
    input_tokens: Math.max(0, input),
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cached,
    output_tokens: output,
  };
}

function count(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}
