import * as fc from "fast-check";
import { someText } from "./translate.ts";

/** One line of an Ollama chat stream. */
export interface OllamaLine {
  thinking: string;
  content: string;
  calls: readonly { name: string; arguments: Record<string, unknown> }[];
}

const maybeText = fc.oneof(fc.constant(""), someText);
const someCall = fc.record({
  name: fc.constantFrom("look", "find"),
  arguments: fc.dictionary(someText, fc.jsonValue()),
});

export const someLines: fc.Arbitrary<readonly OllamaLine[]> = fc.array(
  fc.record({ thinking: maybeText, content: maybeText, calls: fc.array(someCall, { maxLength: 2 }) }),
  { maxLength: 6 },
);

const DONE = { done: true, done_reason: "stop", prompt_eval_count: 7, eval_count: 5, total_duration: 9 };
const TOLD = { model: "llama3.2:latest", created_at: "2026-11-30T00:00:00Z" };

function messageOf({ thinking, content, calls }: OllamaLine): object {
  const tool_calls = calls.map((call) => ({ function: call }));
  return { role: "assistant", content, ...(thinking ? { thinking } : {}), ...(calls.length > 0 ? { tool_calls } : {}) };
}

export function ollamaStream(lines: readonly OllamaLine[], last: object = DONE): string {
  const sent = lines.map((line) => ({ ...TOLD, message: messageOf(line), done: false }));
  const end = { ...TOLD, message: { role: "assistant", content: "" }, ...last };
  return [...sent, end].map((line) => `${JSON.stringify(line)}\n`).join("");
}

export function ollamaWhole(lines: readonly OllamaLine[]): object {
  const message = messageOf({
    thinking: lines.map((line) => line.thinking).join(""),
    content: lines.map((line) => line.content).join(""),
    calls: lines.flatMap((line) => line.calls),
  });
  return { ...TOLD, message, ...DONE };
}
