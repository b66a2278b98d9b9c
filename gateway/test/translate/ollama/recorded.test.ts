import { describe, expect, it } from "vitest";
import type { Translated } from "../../../src/translate/translation.ts";
import { recordedBody } from "../recorded-answer.ts";
import { asTheSdkReads, put, streamed } from "./translated.ts";

const AT = { wallMs: 0, sinceSentMs: 10_000 };
const chat = () => put("ollama-chat", "chat", { messages: [{ role: "user", content: "Hi" }] });
const generate = (to: "completions" | "infill") =>
  put("ollama-generate", to, to === "infill" ? { prompt: "a", suffix: "b" } : { prompt: "a", raw: true });

/** In one piece, and byte by byte. */
function both(translated: () => Translated, name: string) {
  const { rawHeaders, body } = recordedBody(name);
  const bytes = Array.from(body, (_, i) => body.subarray(i, i + 1));
  const whole = streamed(translated(), [body], rawHeaders);
  const torn = streamed(translated(), bytes, rawHeaders);
  expect(torn.lines.map(({ message, response }) => message ?? response)).toEqual(
    whole.lines.map(({ message, response }) => message ?? response),
  );
  return whole;
}

describe("what a real llama-server answered", () => {
  it("streams words, and letters of all scripts", () => {
    const { lines } = both(chat, "single-chat-stream");
    expect(
      asTheSdkReads(lines)
        .map((line) => line.message?.content)
        .join(""),
    ).toMatch(/^, there was a/);
    expect(lines.at(-1)).toMatchObject({
      done: true,
      prompt_eval_count: expect.any(Number),
      eval_count: expect.any(Number),
    });
    const scripts = both(chat, "qwen-utf8-stream").lines;
    expect(
      asTheSdkReads(scripts)
        .map((line) => line.message?.content)
        .join(""),
    ).toMatch(/[^\u0000-\u024f]/);
  });

  it("streams two tool calls", () => {
    const calls = asTheSdkReads(both(chat, "tool-call-required-stream").lines).flatMap(
      (line) => line.message?.tool_calls ?? [],
    );
    expect(calls).toMatchObject([
      { id: expect.any(String), function: { index: 0, name: "get_weather", arguments: { city: ">& abrir", n: 7 } } },
      { function: { index: 1, name: "get_weather", arguments: { n: 1 } } },
    ]);
  });

  it("streams the likeliest words beside each", () => {
    const { lines } = both(chat, "single-chat-stream-logprobs");
    const told = lines.flatMap((line) => line.logprobs ?? []);
    expect(told[0]).toMatchObject({ token: ",", bytes: [44], top_logprobs: [{ token: "," }, { token: " there" }] });
  });

  it("streams completions and its own form", () => {
    const completed = asTheSdkReads(both(() => generate("completions"), "single-completions-stream").lines);
    expect(completed.map((line) => line.response).join("")).toMatch(/^ a big b/);
    expect(completed.at(-1)).toMatchObject({ done_reason: "length", prompt_eval_count: 3, eval_count: 12 });
    const filled = asTheSdkReads(both(() => generate("infill"), "single-native-completion-stream").lines);
    expect(filled.at(-1)).toMatchObject({ done_reason: "length", eval_count: 6 });
  });

  it("broke off when it was killed: no end is told", () => {
    for (const name of ["router-child-killed-midstream", "sigkill-midstream"]) {
      const { lines, problem } = both(chat, name);
      expect(lines.length).toBeGreaterThan(1);
      expect(lines.every((line) => line.done === false)).toBe(true);
      expect(problem).not.toBeNull();
    }
  });

  it("answers whole", () => {
    const wholeOf = (translated: Translated, name: string) =>
      translated.whole(JSON.parse(recordedBody(name).body.toString()), AT);
    expect(wholeOf(chat(), "single-chat")).toMatchObject({
      message: { content: expect.stringContaining("Lily") },
      done_reason: "length",
      prompt_eval_count: 5,
      eval_count: 40,
      eval_duration: 18_024_000,
    });
    expect(wholeOf(chat(), "tool-call-required")).toMatchObject({
      message: { tool_calls: [{}, {}] },
      done_reason: "stop",
    });
    for (const name of ["embed-float", "embed-base64"]) {
      const input = name === "embed-float" ? ["hello world", "bye"] : "hello world";
      const { embeddings } = wholeOf(put("ollama-embed", "embeddings", { input }), name) as { embeddings: number[][] };
      expect(embeddings).toHaveLength([input].flat().length);
      expect(embeddings[0]?.[0]).toBeTypeOf("number");
      expect(embeddings[0]?.length).toBe(384);
    }
  });
});
