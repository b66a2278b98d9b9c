import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { responsesToChat } from "../../src/translate/responses/responses-to-chat.ts";
import { through } from "../../src/translate/through.ts";
import { chatToOllama } from "../../src/translate/to-ollama/chat-to-ollama.ts";
import { ollamaStream, ollamaWhole, someLines } from "../support/ollama-stream.ts";
import { AT, CONTEXT, clientOf, someCuts, tell } from "../support/translate.ts";

const translated = () =>
  through(responsesToChat, chatToOllama)({ model: "m", input: "Hi", stream: true, max_output_tokens: 3 }, CONTEXT);

describe("a response by way of chat out of an Ollama", () => {
  it("is asked as Ollama has it", () => {
    expect(translated()).toMatchObject({ api: "ollama-chat", streams: true });
    expect(translated().body).toEqual({
      model: "worker-model",
      messages: [{ role: "user", content: "Hi" }],
      stream: true,
      options: { num_predict: 3 },
    });
  });

  it("says all that the Ollama said, however its stream is cut", async () => {
    await fc.assert(
      fc.asyncProperty(someLines, someCuts, async (lines, cuts) => {
        const { text, problem } = tell("responses", translated(), ollamaStream(lines), cuts);
        expect(problem).toBeNull();
        const seen = await clientOf(text).responses.stream({ model: "m", input: "Hi" }).finalResponse();
        expect(seen.status).toBe("completed");
        expect(seen.output_text).toBe(lines.map((line) => line.content).join(""));
        const calls = seen.output.flatMap((item) =>
          item.type === "function_call" ? [JSON.parse(item.arguments)] : [],
        );
        const made = lines.flatMap((line) => line.calls.map((call) => call.arguments));
        expect(calls).toEqual(JSON.parse(JSON.stringify(made)));
        expect(translated().whole(ollamaWhole(lines), AT)).toMatchObject({ usage: seen.usage });
      }),
      { numRuns: 40 },
    );
  });

  it("invents nothing when the stream is cut off anywhere", () => {
    fc.assert(
      fc.property(someLines, fc.nat(), (lines, cut) => {
        const bytes = Buffer.from(ollamaStream(lines));
        const stream = bytes.subarray(0, cut % bytes.indexOf('"done":true')).toString();
        const { text, problem } = tell("responses", translated(), stream);
        expect(problem).not.toBeNull();
        expect(text).not.toMatch(/response\.(completed|incomplete)/);
      }),
    );
  });

  it("is broken off by an error of the worker inside of it", () => {
    expect(tell("responses", translated(), '{"error":"out of memory"}\n').problem).toBe(
      "it told an error: out of memory",
    );
  });
});
