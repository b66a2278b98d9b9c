import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { asTheSdkReads, chunk, cut, DONE, put, streamed, type ToolCall } from "./translated.ts";

const places = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 });
const words = fc.array(fc.string({ unit: "binary" }), { maxLength: 8 });
const question = { messages: [{ role: "user", content: "Hi" }] };
const USAGE = { usage: { prompt_tokens: 3, completion_tokens: 5 } };

function chat() {
  return put("ollama-chat", "chat", question);
}

describe("a streamed chat, put as Ollama's lines", () => {
  it("says what the model said, whatever that is and however its bytes came", () => {
    fc.assert(
      fc.property(words, words, places, (thoughts, texts, at) => {
        const sent =
          chunk({ role: "assistant", content: null }) +
          thoughts.map((piece) => chunk({ reasoning_content: piece })).join("") +
          texts.map((piece) => chunk({ content: piece })).join("") +
          chunk({}, "stop") +
          `data: ${JSON.stringify({ choices: [], ...USAGE })}\n\n${DONE}`;
        const { lines, problem } = streamed(chat(), cut(sent, at));
        expect(problem).toBeNull();
        const read = asTheSdkReads(lines);
        expect(read).toHaveLength(lines.length);
        expect(read.map((line) => line.message?.content).join("")).toBe(texts.join(""));
        expect(read.map((line) => line.message?.thinking ?? "").join("")).toBe(thoughts.join(""));
        for (const line of read) {
          expect(line).toMatchObject({ model: "worker/m", created_at: expect.stringMatching(/^1970-01-01T00:00:0\d/) });
        }
        expect(read.at(-1)).toMatchObject({ done: true, done_reason: "stop", prompt_eval_count: 3, eval_count: 5 });
      }),
    );
  });

  it("cut off anywhere, is complete only when the worker told its end", () => {
    const begun = chunk({ role: "assistant", content: "Hé漢😀" }) + chunk({ content: "lo" });
    const finish = chunk({}, "length");
    const bytes = Buffer.from(begun + finish + DONE);
    const finishAt = Buffer.byteLength(begun + finish);
    for (let end = 0; end <= bytes.length; end += 1) {
      const { lines, problem } = streamed(chat(), [bytes.subarray(0, end)]);
      const isDone = lines.some((line) => line.done === true);
      expect(isDone).toBe(end >= finishAt);
      expect(problem === null).toBe(isDone);
      expect("Hé漢😀lo".startsWith(lines.map((line) => line.message?.content).join(""))).toBe(true);
    }
  });

  it("hands on the same tool calls, wherever their arguments were split and whatever comes between", () => {
    const value = fc.dictionary(fc.string(), fc.oneof(fc.string({ unit: "binary" }), fc.integer(), fc.boolean()));
    const call = fc.record({ name: fc.constantFrom("a", "b"), given: value, at: places });
    fc.assert(
      fc.property(fc.array(call, { minLength: 1, maxLength: 4 }), places, fc.boolean(), (calls, at, mixed) => {
        const parts = calls.map(({ name, given, at: splits }, index) =>
          splitText(JSON.stringify(given), splits).map((text, i) =>
            i === 0
              ? { index, id: `c${index}`, type: "function", function: { name, arguments: text } }
              : { index, function: { arguments: text } },
          ),
        );
        const order = mixed ? takeTurns(parts) : parts.flat();
        const sent = order.map((part) => chunk({ tool_calls: [part] })).join("") + chunk({}, "tool_calls") + DONE;
        const { lines, problem } = streamed(chat(), cut(sent, at));
        expect(problem).toBeNull();
        const told: ToolCall[] = asTheSdkReads(lines).flatMap((line) => line.message?.tool_calls ?? []);
        expect(told).toEqual(
          calls.map(({ name, given }, index) => ({ id: `c${index}`, function: { index, name, arguments: given } })),
        );
        expect(lines.at(-1)).toMatchObject({ done: true, done_reason: "stop" });
      }),
    );
  });
});

/** By characters: JSON text is split between any two of them. */
function splitText(text: string, shares: readonly number[]): string[] {
  const characters = Array.from(text);
  const at = [0, ...shares.map((share) => Math.floor(share * characters.length)).sort((a, b) => a - b), Infinity];
  return at.slice(1).map((end, i) => characters.slice(at[i], end).join(""));
}

function takeTurns<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(...lists.map((list) => list.length));
  return Array.from({ length: longest }, (_, i) => lists.flatMap((list) => list.slice(i, i + 1))).flat();
}
