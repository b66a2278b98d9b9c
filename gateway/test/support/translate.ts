import { type Api, apiForm } from "@farmgate/shared";
import * as fc from "fast-check";
import OpenAI from "openai";
import { TranslatedAnswer } from "../../src/translate/translated-answer.ts";
import type { Translated, TranslationContext } from "../../src/translate/translation.ts";

export const CONTEXT: TranslationContext = {
  model: "worker-model",
  engine: "llama-server",
  requestId: "req_1",
  wallMs: 1_800_000_000_000,
};
export const AT = { wallMs: CONTEXT.wallMs + 10, sinceSentMs: 10 };

/** How a translation was told: the caller's bytes, and what was wrong with the worker's. */
export interface Told {
  text: string;
  problem: string | null;
}

const TYPES = { events: "text/event-stream", lines: "application/x-ndjson" };

/** Sends a worker's stream through its translation, cut into pieces at these places (bytes). */
export function tell(from: Api, translated: Translated, stream: string, cuts: readonly number[] = []): Told {
  const type = TYPES[apiForm(translated.api).streams ?? "events"];
  const answer = new TranslatedAnswer(translated, apiForm(from).streams, ["content-type", type]);
  const bytes = Buffer.from(stream);
  const places = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].sort((a, b) => a - b);
  let text = "";
  for (const [i, start] of places.entries()) text += answer.push(bytes.subarray(start, places[i + 1]), AT);
  text += answer.end(AT);
  return { text, problem: answer.problem };
}

/** OpenAI's own client, which is answered with this stream. */
export function clientOf(stream: string): OpenAI {
  const fetch = () => Promise.resolve(new Response(stream, { headers: { "content-type": "text/event-stream" } }));
  return new OpenAI({ apiKey: "none", baseURL: "http://localhost/v1", maxRetries: 0, fetch });
}

/** The `data` of each event of a stream, parsed; `[DONE]` as `{done: true}`. */
export function dataOf(stream: string): Record<string, unknown>[] {
  const data = stream.split("\n").flatMap((line) => (line.startsWith("data: ") ? [line.slice(6)] : []));
  return data.map((text) => (text === "[DONE]" ? { done: true } : (JSON.parse(text) as Record<string, unknown>)));
}

/** A text of any letters, not empty. */
export const someText = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 });
export const someCuts = fc.array(fc.nat(), { maxLength: 20 });
