import type { JsonObject } from "../translation.ts";
import { TranslationError } from "../translation.ts";
import type { ToolCallPart } from "./tool-calls.ts";

/** What an engine counted and measured; null: it does not tell. Milliseconds. */
export interface Figures {
  promptTokens: number | null;
  evalTokens: number | null;
  promptMs: number | null;
  evalMs: number | null;
}

/** What one event of a worker's stream says, or its whole answer. */
export interface Said {
  text: string;
  thinking: string;
  calls: readonly ToolCallPart[];
  /** As Ollama has them. */
  logprobs: readonly object[];
  /** Why the answer ends; null: it goes on, or the worker does not tell. */
  finish: string | null;
  figures: Figures;
}

/** Reads one event, or a whole answer, of one API. Throws `TranslationError`. */
export type SaidReader = (answer: JsonObject) => Said;

export const NOTHING_SAID: Said = {
  text: "",
  thinking: "",
  calls: [],
  logprobs: [],
  finish: null,
  figures: { promptTokens: null, evalTokens: null, promptMs: null, evalMs: null },
};

export function asObject(value: unknown): JsonObject | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
}

export function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function asNumber(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : null;
}

/** Engines tell an error that befell them in the middle of an answer in its place. */
export function refuseTold({ error }: JsonObject): void {
  if (error === undefined || error === null) return;
  const text = asText(error) || asText(asObject(error)?.["message"]);
  throw new TranslationError(`the worker told an error: ${text.slice(0, 300) || "without a word"}`);
}

/** `usage` as OpenAI has it, and llama.cpp's `timings`, which it sends unasked. */
export function figuresOf(answer: JsonObject): Figures {
  const usage = asObject(answer["usage"]) ?? {};
  const timings = asObject(answer["timings"]) ?? {};
  const read = asNumber(timings["prompt_n"]);
  const cached = asNumber(timings["cache_n"]);
  return {
    promptTokens: asNumber(usage["prompt_tokens"]) ?? (read === null ? null : read + (cached ?? 0)),
    evalTokens: asNumber(usage["completion_tokens"]) ?? asNumber(timings["predicted_n"]),
    promptMs: asNumber(timings["prompt_ms"]),
    evalMs: asNumber(timings["predicted_ms"]),
  };
}

export function withFigures(known: Figures, more: Figures): Figures {
  return {
    promptTokens: more.promptTokens ?? known.promptTokens,
    evalTokens: more.evalTokens ?? known.evalTokens,
    promptMs: more.promptMs ?? known.promptMs,
    evalMs: more.evalMs ?? known.evalMs,
  };
}
