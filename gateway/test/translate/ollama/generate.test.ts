import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { EngineName } from "@farmgate/engines";
import { asTheSdkReads, chunk, cut, DONE, put, streamed } from "./translated.ts";

const AT = { wallMs: 0, sinceSentMs: 100 };
const notSupported = expect.objectContaining({ code: "not_supported" });
type To = "chat" | "completions" | "infill";
const bodyOf = (to: To, body: Record<string, unknown>, engine: EngineName = "llama-server") =>
  put("ollama-generate", to, { stream: false, ...body }, { engine }).body;

describe("a prompt", () => {
  it("is a chat of the system's and the user's words", () => {
    expect(
      bodyOf("chat", { prompt: "Hi", system: "Be brief.", images: ["/9j/"], format: "json", think: false }),
    ).toEqual({
      model: "worker/m",
      messages: [
        { role: "system", content: "Be brief." },
        {
          role: "user",
          content: [
            { type: "text", text: "Hi" },
            { type: "image_url", image_url: { url: "data:image/jpeg;base64,/9j/" } },
          ],
        },
      ],
      response_format: { type: "json_object" },
      reasoning_effort: "none",
      chat_template_kwargs: { enable_thinking: false },
      stream: false,
    });
    const prompt = bodyOf("chat", { prompt: "Hi", options: { num_predict: 3, top_k: 1 }, context: [], template: "" });
    expect(prompt).toMatchObject({ messages: [{ role: "user", content: "Hi" }], max_tokens: 3, top_k: 1 });
  });

  it("that is raw is completed as it stands, and no chat", () => {
    const raw = { prompt: "<s>Hi", raw: true };
    expect(bodyOf("completions", raw)).toEqual({ model: "worker/m", prompt: "<s>Hi", stream: false });
    expect(bodyOf("completions", raw, "vllm")).toMatchObject({ max_tokens: 1_024 });
    expect(bodyOf("completions", { ...raw, options: { num_predict: 7 } }, "vllm")).toMatchObject({ max_tokens: 7 });
    expect(() => bodyOf("chat", raw)).toThrow(notSupported);
    expect(() => bodyOf("completions", { prompt: "Hi" })).toThrow(notSupported);
  });

  it("with a suffix is filled in between by who can", () => {
    const between = { prompt: "def f(", suffix: "return x", options: { num_predict: 9, stop: "\n" } };
    expect(bodyOf("infill", between)).toEqual({
      model: "worker/m",
      input_prefix: "def f(",
      input_suffix: "return x",
      n_predict: 9,
      stop: "\n",
      stream: false,
    });
    expect(bodyOf("completions", between, "ollama")).toMatchObject({ prompt: "def f(", suffix: "return x" });
    expect(() => bodyOf("completions", between, "vllm")).toThrow(notSupported);
    expect(() => bodyOf("chat", between)).toThrow(notSupported);
    expect(() => bodyOf("infill", { prompt: "Hi" })).toThrow(notSupported);
  });

  it("is not answered without what no other API has", () => {
    expect(() => bodyOf("chat", { prompt: "Hi", context: [1, 2] })).toThrow(notSupported);
    expect(() => bodyOf("chat", { prompt: "Hi", template: "{{ .Prompt }}" })).toThrow(notSupported);
    for (const more of [{ logprobs: true }, { images: ["iVBORw0KGgo"] }]) {
      expect(() => bodyOf("completions", { prompt: "Hi", raw: true, ...more })).toThrow(notSupported);
      expect(() => bodyOf("infill", { prompt: "Hi", suffix: "b", ...more })).toThrow(notSupported);
    }
  });

  it("that is empty loads the model", () => {
    for (const body of [{}, { prompt: "" }, { prompt: null, system: "x" }]) {
      const translated = put("ollama-generate", "chat", body);
      expect(translated.body).toMatchObject({ max_tokens: 1 });
      expect(translated.whole({ choices: [{}] }, AT)).toMatchObject({ response: "", done: true, done_reason: "load" });
    }
    expect(() => put("ollama-generate", "chat", { prompt: "", keep_alive: 0 })).toThrow(notSupported);
  });
});

describe("its answer", () => {
  it("comes as `response`, from all three", () => {
    const ask = (to: To, body: Record<string, unknown>) => put("ollama-generate", to, { prompt: "a", ...body });
    const chatted = { choices: [{ message: { content: "Hi", reasoning: "Hm" }, finish_reason: "stop" }] };
    expect(ask("chat", {}).whole(chatted, AT)).toMatchObject({ response: "Hi", thinking: "Hm", done: true });
    const completed = { choices: [{ text: "Hi", finish_reason: "length" }] };
    expect(ask("completions", { raw: true }).whole(completed, AT)).toMatchObject({
      response: "Hi",
      done_reason: "length",
    });
    const filled = { content: "Hi", stop: true, stop_type: "word", tokens_evaluated: 5, timings: { predicted_n: 2 } };
    expect(ask("infill", { suffix: "b" }).whole(filled, AT)).toMatchObject({
      response: "Hi",
      done_reason: "stop",
      prompt_eval_count: 5,
      eval_count: 2,
    });
  });

  it("streams whatever the model said, however its bytes came", () => {
    const texts = fc.array(fc.string({ unit: "binary" }), { maxLength: 8 });
    const places = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 });
    const completion = (text: string, finish: string | null) =>
      `data: ${JSON.stringify({ choices: [{ index: 0, text, finish_reason: finish }] })}\r\n\r\n`;
    fc.assert(
      fc.property(texts, places, fc.boolean(), (pieces, at, raw) => {
        const sent = raw
          ? pieces.map((piece) => completion(piece, null)).join("") + completion("", "stop") + DONE
          : pieces.map((piece) => chunk({ content: piece })).join("") + chunk({}, "stop") + DONE;
        const translated = put("ollama-generate", raw ? "completions" : "chat", { prompt: "a", raw });
        const read = asTheSdkReads(streamed(translated, cut(sent, at)).lines);
        expect(read.map((line) => line.response).join("")).toBe(pieces.join(""));
        expect(read.at(-1)).toMatchObject({ done: true, done_reason: "stop", response: "" });
      }),
    );
  });
});
