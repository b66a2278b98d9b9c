import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chatToOllama } from "../../../src/translate/to-ollama/chat-to-ollama.ts";
import { type OllamaLine, ollamaStream, ollamaWhole, someLines } from "../../support/ollama-stream.ts";
import { AT, CONTEXT, clientOf, dataOf, someCuts, tell } from "../../support/translate.ts";

const MESSAGES = [{ role: "user" as const, content: "Hi" }];

function translated(usage: boolean) {
  return chatToOllama(
    { model: "m", messages: MESSAGES, stream: true, stream_options: { include_usage: usage } },
    CONTEXT,
  );
}

/** What a caller gathers of the chunks, by OpenAI's own client; of reasoning, that keeps the last piece alone. */
async function gathered(stream: string) {
  const request = { model: "m", messages: MESSAGES };
  const { choices, usage } = await clientOf(stream).chat.completions.stream(request).finalChatCompletion();
  const message = choices[0]?.message;
  const chunks = dataOf(stream) as unknown as Chunk[];
  return {
    text: message?.content ?? "",
    reasoning: chunks.map((chunk) => chunk.choices?.[0]?.delta.reasoning_content ?? "").join(""),
    calls: message?.tool_calls ?? [],
    finish: choices[0]?.finish_reason,
    usage,
  };
}

describe("an Ollama stream told as chat", () => {
  it("comes to the same for OpenAI's client as the whole answer, however it is cut", async () => {
    await fc.assert(
      fc.asyncProperty(someLines, someCuts, async (lines, cuts) => {
        const translation = translated(true);
        const { text, problem } = tell("chat", translation, ollamaStream(lines), cuts);
        expect(problem).toBeNull();
        const whole = translation.whole(ollamaWhole(lines), AT) as Whole;
        const { calls, reasoning, usage, ...seen } = await gathered(text);
        const [wanted] = whole.choices;
        expect(seen).toEqual({ text: wanted?.message.content ?? "", finish: wanted?.finish_reason });
        expect(reasoning).toBe(lines.map((line) => line.thinking).join(""));
        expect(JSON.parse(JSON.stringify(calls))).toMatchObject(wanted?.message.tool_calls ?? []);
        expect(usage).toEqual(whole.usage);
      }),
      { numRuns: 60 },
    );
  });

  it("begins with the role, numbers its calls, tells usage only when asked, and ends with [DONE]", () => {
    fc.assert(
      fc.property(someLines, fc.boolean(), (lines, usage) => {
        const chunks = dataOf(tell("chat", translated(usage), ollamaStream(lines)).text) as unknown as Chunk[];
        expect(chunks[0]?.choices?.[0]?.delta.role).toBe("assistant");
        expect(chunks.at(-1)).toEqual({ done: true });
        expect(chunks.filter((chunk) => chunk.usage != null)).toHaveLength(usage ? 1 : 0);
        const numbers = chunks.flatMap(
          (chunk) => chunk.choices?.[0]?.delta.tool_calls?.map(({ index }) => index) ?? [],
        );
        expect(numbers).toEqual(numbers.map((_, i) => i));
      }),
    );
  });

  it("says the same as a stream when the worker answered whole", async () => {
    await fc.assert(
      fc.asyncProperty(someLines, async (lines) => {
        const told = translated(true).wholeAsStream(ollamaWhole(lines), AT);
        const streamed = tell("chat", translated(true), ollamaStream(lines)).text;
        expect(await gathered(told)).toEqual(await gathered(streamed));
      }),
      { numRuns: 40 },
    );
  });

  it("invents nothing when the worker's stream is cut off anywhere", () => {
    fc.assert(
      fc.property(someLines, fc.boolean(), fc.nat(), (lines, usage, cut) => {
        const bytes = Buffer.from(ollamaStream(lines));
        const last = bytes.indexOf('"done":true');
        const { text, problem } = tell("chat", translated(usage), bytes.subarray(0, cut % last).toString());
        expect(problem).not.toBeNull();
        expect(text).not.toMatch(/\[DONE\]|"finish_reason":"|"usage":\{/);
        expect(tell("chat", translated(usage), ollamaStream(lines)).text.startsWith(text)).toBe(true);
      }),
    );
  });
});

describe("an odd Ollama stream told as chat", () => {
  const line: OllamaLine = { thinking: "", content: "Hel", calls: [] };

  it("is broken off by an error inside of it", () => {
    const stream = `${ollamaStream([line]).split("\n")[0]}\n{"error":"an error was encountered"}\n`;
    const { text, problem } = tell("chat", translated(false), stream);
    expect(problem).toBe("it told an error: an error was encountered");
    expect(text).not.toContain("[DONE]");
  });

  it("tells that the model ran out of tokens", async () => {
    const stream = ollamaStream([line], { done: true, done_reason: "length" });
    expect((await gathered(tell("chat", translated(false), stream).text)).finish).toBe("length");
  });

  it("takes a last line without its line break", () => {
    expect(tell("chat", translated(false), ollamaStream([line]).trimEnd()).text).toContain("[DONE]");
  });
});

interface Whole {
  choices: { message: { content: string | null; tool_calls?: object[] }; finish_reason: string }[];
  usage: object;
}

interface Chunk {
  choices?: {
    delta: { role?: string; reasoning_content?: string; tool_calls?: { index: number }[] };
  }[];
  usage?: object | null;
}
