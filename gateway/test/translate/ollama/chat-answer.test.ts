import { describe, expect, it } from "vitest";
import { TranslationError } from "../../../src/translate/translation.ts";
import { asTheSdkReads, chunk, DONE, put, readLines, streamed } from "./translated.ts";

const AT = { wallMs: Date.parse("2026-11-30T01:02:03.004Z"), sinceSentMs: 500 };
const chat = (body: Record<string, unknown> = {}) =>
  put("ollama-chat", "chat", { messages: [{ role: "user", content: "Hi" }], ...body });
const whole = (message: object, finish: string | null = "stop", more: object = {}) => ({
  choices: [{ index: 0, message: { role: "assistant", content: "", ...message }, finish_reason: finish }],
  ...more,
});
const call = (name: string, text: unknown, more: object = {}) => ({ function: { name, arguments: text }, ...more });

describe("a whole answer", () => {
  it("has the model's words, the reason of its end, and what the engine measured", () => {
    const timings = { cache_n: 2, prompt_n: 5, prompt_ms: 100.5, predicted_n: 9, predicted_ms: 300 };
    expect(
      chat({ stream: false }).whole(whole({ content: "Hello", reasoning_content: "Hm" }, "length", { timings }), AT),
    ).toEqual({
      model: "worker/m",
      created_at: "2026-11-30T01:02:03.004Z",
      message: { role: "assistant", content: "Hello", thinking: "Hm" },
      done: true,
      done_reason: "length",
      total_duration: 500_000_000,
      load_duration: 99_500_000,
      prompt_eval_count: 7,
      prompt_eval_duration: 100_500_000,
      eval_count: 9,
      eval_duration: 300_000_000,
    });
  });

  it("takes vLLM's word for thinking, and counts of `usage`", () => {
    const usage = { prompt_tokens: 4, completion_tokens: 6 };
    expect(chat().whole(whole({ content: "x", reasoning: "Hm" }, "stop", { usage }), AT)).toMatchObject({
      message: { thinking: "Hm" },
      prompt_eval_count: 4,
      eval_count: 6,
    });
  });

  it("is a stream of two lines for a caller who asked for one", () => {
    const lines = readLines(chat().wholeAsStream(whole({ content: "Hello", tool_calls: [call("f", "{}")] }), AT));
    expect(lines).toMatchObject([
      { done: false, message: { content: "Hello", tool_calls: [{ function: { name: "f", arguments: {} } }] } },
      { done: true, done_reason: "stop", message: { content: "" } },
    ]);
  });

  it("has no reason where the worker told none", () => {
    expect(chat().whole(whole({ content: "x" }, null), AT)).not.toHaveProperty("done_reason");
  });

  it.each([{}, { choices: [] }, { choices: null }, { error: { message: "out of memory" } }, []])(
    "is none that says nothing: %j",
    (answer) => {
      expect(() => chat().whole(answer, AT)).toThrow(TranslationError);
      expect(() => chat().wholeAsStream(answer, AT)).toThrow(TranslationError);
    },
  );

  it("has no tool call that the end of its length cut off, and fails with one that is none", () => {
    const calls = { tool_calls: [call("f", '{"a":1}'), call("g", '{"a')] };
    expect(chat().whole(whole(calls, "length"), AT)).toMatchObject({
      message: { tool_calls: [{ function: { index: 0, name: "f", arguments: { a: 1 } } }] },
    });
    expect(() => chat().whole(whole(calls, "tool_calls"), AT)).toThrow(/no JSON object/);
    expect(() => chat().whole(whole({ tool_calls: [call("f", "[1]")] }), AT)).toThrow(/no JSON object/);
  });
});

describe("calls in a stream", () => {
  const toldBy = (deltas: object[]) => {
    const sent = deltas.map((part) => chunk({ tool_calls: [part] })).join("") + chunk({}, "tool_calls") + DONE;
    const { lines } = streamed(chat(), [Buffer.from(sent)]);
    return asTheSdkReads(lines)
      .flatMap((line) => line.message?.tool_calls ?? [])
      .map(({ function: { name, arguments: given } }) => [name, given]);
  };

  it("are told apart where an engine counts all of them 0, or none", () => {
    const two = [
      ["f", { a: 1 }],
      ["g", {}],
    ];
    expect(toldBy([call("f", '{"a":1}', { index: 0, id: "x" }), call("g", "{}", { index: 0, id: "y" })])).toEqual(two);
    expect(toldBy([call("f", '{"a":1}', { index: 0 }), call("g", "{}", { index: 0 })])).toEqual(two);
    expect(toldBy([call("f", '{"a":1}'), call("g", "")])).toEqual(two);
    expect(toldBy([call("f", "{}", { index: 0 }), call("f", '{"b":2}', { index: 0 })])).toEqual([
      ["f", {}],
      ["f", { b: 2 }],
    ]);
  });

  it("go on under the name that an engine repeats with each piece, and may be objects already", () => {
    expect(toldBy([call("f", '{"a"', { index: 0, id: "x" }), call("f", ":1}", { index: 0, id: "x" })])).toEqual([
      ["f", { a: 1 }],
    ]);
    expect(toldBy([call("f", { a: 1 })])).toEqual([["f", { a: 1 }]]);
  });
});

describe("times and ends in a stream", () => {
  it("count the prompt until the first token where the engine measures nothing", () => {
    const sent = [
      chunk({ role: "assistant", content: "" }),
      chunk({ content: "a" }),
      chunk({ content: "b" }),
      chunk({}, "stop"),
    ];
    const { lines } = streamed(
      chat(),
      sent.map((text) => Buffer.from(text)),
    );
    expect(lines.at(-1)).toMatchObject({
      total_duration: 50_000_000,
      load_duration: 0,
      prompt_eval_duration: 20_000_000,
      eval_duration: 30_000_000,
    });
    expect(lines.at(-1)).not.toHaveProperty("eval_count");
  });

  it("come at [DONE] without a finish as an end without a reason, calls and all", () => {
    const sent = chunk({ content: "a" }) + chunk({ tool_calls: [call("f", "{}")] }) + DONE;
    const { lines, problem } = streamed(chat(), [Buffer.from(sent)]);
    expect(problem).toBeNull();
    expect(lines).toMatchObject([
      { done: false, message: { content: "a" } },
      { done: false, message: { tool_calls: [{ function: { name: "f" } }] } },
      { done: true },
    ]);
    expect(lines.at(-1)).not.toHaveProperty("done_reason");
  });

  it("end with the error that a worker tells inside", () => {
    for (const event of ['data: {"error":{"message":"CUDA is gone"}}\n\n', 'data: {"error":"CUDA is gone"}\n\n']) {
      const { lines, problem } = streamed(chat(), [
        Buffer.from(chunk({ content: "a" }) + event + chunk({}, "stop") + DONE),
      ]);
      expect(lines.map((line) => line.done)).toEqual([false]);
      expect(problem).toContain("CUDA is gone");
    }
    expect(streamed(chat(), [Buffer.from("data: nonsense\n\n")]).problem).toContain("no JSON");
  });
});
