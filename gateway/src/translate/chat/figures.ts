import { countOf, isObject, numberOf, objectOf } from "../json-fields.ts";
import type { JsonObject } from "../translation.ts";

/** What an engine counted and measured; null: it does not tell. Tokens, and milliseconds. */
export interface Figures {
  /** Those from the engine's cache among them. */
  promptTokens: number | null;
  cachedTokens: number | null;
  /** Those that the model thought among them. */
  answerTokens: number | null;
  thoughtTokens: number | null;
  promptMs: number | null;
  answerMs: number | null;
}

export const NO_FIGURES: Figures = {
  promptTokens: null,
  cachedTokens: null,
  answerTokens: null,
  thoughtTokens: null,
  promptMs: null,
  answerMs: null,
};

/** `usage` as OpenAI has it, and llama.cpp's `timings`, which it sends unasked and which count without its cache. */
export function figuresOf({ usage: told, timings: measured }: JsonObject): Figures {
  if (!isObject(told) && !isObject(measured)) return NO_FIGURES;
  const usage = objectOf(told);
  const timings = objectOf(measured);
  const read = countOf(timings["prompt_n"]);
  const cached = countOf(timings["cache_n"]);
  return {
    promptTokens: countOf(usage["prompt_tokens"]) ?? (read === null ? null : read + (cached ?? 0)),
    cachedTokens: countOf(objectOf(usage["prompt_tokens_details"])["cached_tokens"]) ?? cached,
    answerTokens: countOf(usage["completion_tokens"]) ?? countOf(timings["predicted_n"]),
    thoughtTokens: countOf(objectOf(usage["completion_tokens_details"])["reasoning_tokens"]),
    promptMs: timeOf(timings["prompt_ms"]),
    answerMs: timeOf(timings["predicted_ms"]),
  };
}

/** What is told later counts. */
export function withFigures(known: Figures, more: Figures): Figures {
  if (more === NO_FIGURES) return known;
  return {
    promptTokens: more.promptTokens ?? known.promptTokens,
    cachedTokens: more.cachedTokens ?? known.cachedTokens,
    answerTokens: more.answerTokens ?? known.answerTokens,
    thoughtTokens: more.thoughtTokens ?? known.thoughtTokens,
    promptMs: more.promptMs ?? known.promptMs,
    answerMs: more.answerMs ?? known.answerMs,
  };
}

/** A year, in milliseconds: what takes longer was not measured. */
const LONGEST_MS = 365 * 24 * 3_600_000;

function timeOf(value: unknown): number | null {
  const ms = numberOf(value);
  return ms !== null && ms >= 0 && ms <= LONGEST_MS ? ms : null;
}
