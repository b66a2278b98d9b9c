import * as fc from "fast-check";
import { someText } from "./translate.ts";

/** What a model says in one chat answer. */
export interface Said {
  reasoning: readonly string[];
  text: readonly string[];
  calls: readonly { name: string; arguments: readonly string[] }[];
  finish: "stop" | "length" | "tool_calls";
}

export const somethingSaid: fc.Arbitrary<Said> = fc.record({
  reasoning: fc.array(someText, { maxLength: 4 }),
  text: fc.array(someText, { maxLength: 6 }),
  calls: fc.array(
    fc.record({ name: fc.constantFrom("look", "find"), arguments: fc.array(someText, { maxLength: 3 }) }),
    {
      maxLength: 3,
    },
  ),
  finish: fc.constantFrom("stop", "length", "tool_calls"),
});

const USAGE = {
  prompt_tokens: 7,
  completion_tokens: 5,
  total_tokens: 12,
  prompt_tokens_details: { cached_tokens: 3 },
};

/** As one whole answer. */
export function wholeChat({ reasoning, text, calls, finish }: Said): object {
  const message = {
    role: "assistant",
    content: text.join(""),
    reasoning_content: reasoning.join(""),
    tool_calls: calls.map((call, i) => ({
      id: `call_${i}`,
      type: "function",
      function: { name: call.name, arguments: call.arguments.join("") },
    })),
  };
  return { id: "chatcmpl-1", model: "m", choices: [{ index: 0, message, finish_reason: finish }], usage: USAGE };
}

/** As llama-server streams it. */
export function chatStream({ reasoning, text, calls, finish }: Said): string {
  const deltas: object[] = [{ role: "assistant", content: null }];
  for (const piece of reasoning) deltas.push({ reasoning_content: piece });
  for (const piece of text) deltas.push({ content: piece });
  for (const [index, call] of calls.entries()) {
    const opened = { id: `call_${index}`, type: "function", function: { name: call.name, arguments: "" } };
    deltas.push({ tool_calls: [{ index, ...opened }] });
    for (const piece of call.arguments) deltas.push({ tool_calls: [{ index, function: { arguments: piece } }] });
  }
  const chunks = deltas.map((delta) => ({ model: "m", choices: [{ index: 0, delta, finish_reason: null }] }));
  const last = { model: "m", choices: [{ index: 0, delta: {}, finish_reason: finish }] };
  const usage = { model: "m", choices: [], usage: USAGE };
  return `${[...chunks, last, usage].map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("")}data: [DONE]\n\n`;
}
