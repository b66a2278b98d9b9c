import type { EngineName } from "@farmgate/engines";
import { FarmError } from "@farmgate/shared";
import { describe, expect, it } from "vitest";
import { put } from "./translated.ts";

const HI = [{ role: "user", content: "Hi" }];
const bodyOf = (body: Record<string, unknown>, engine: EngineName | null = "llama-server") =>
  put("ollama-chat", "chat", { messages: HI, ...body }, { engine }).body;
const messagesOf = (messages: object[], engine: EngineName = "llama-server") =>
  bodyOf({ messages }, engine)["messages"];

describe("a chat for an OpenAI-like engine", () => {
  it("names the worker's model, and streams unless it says no", () => {
    expect(bodyOf({})).toEqual({
      model: "worker/m",
      messages: HI,
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(bodyOf({ stream: false, keep_alive: "5m" })).toEqual({ model: "worker/m", messages: HI, stream: false });
    expect(put("ollama-chat", "chat", { messages: HI }).streams).toBe(true);
    expect(put("ollama-chat", "chat", { messages: HI, stream: false }).streams).toBe(false);
  });

  it("asks a server that was not recognised for no usage, which it may refuse", () => {
    for (const engine of ["openai", null] as const) expect(bodyOf({}, engine)).not.toHaveProperty("stream_options");
  });

  it("samples as its options say; what a model is loaded with is the engine's own", () => {
    const options = {
      temperature: 0,
      top_p: 0.9,
      top_k: 40,
      min_p: 0.05,
      seed: 0,
      num_predict: 12,
      repeat_penalty: 1.1,
      presence_penalty: 0.5,
      frequency_penalty: 0.25,
      stop: ["\n", "END"],
      num_ctx: 8_192,
      num_gpu: 99,
      num_thread: 4,
      use_mmap: true,
    };
    expect(bodyOf({ stream: false, options })).toEqual({
      model: "worker/m",
      messages: HI,
      stream: false,
      temperature: 0,
      top_p: 0.9,
      top_k: 40,
      min_p: 0.05,
      seed: 0,
      max_tokens: 12,
      repeat_penalty: 1.1,
      presence_penalty: 0.5,
      frequency_penalty: 0.25,
      stop: ["\n", "END"],
    });
    expect(bodyOf({ options: { repeat_penalty: 1.1 } }, "vllm")).toMatchObject({ repetition_penalty: 1.1 });
    for (const num_predict of [-1, -2, 0])
      expect(bodyOf({ options: { num_predict } })).not.toHaveProperty("max_tokens");
    expect(bodyOf({ options: null })).not.toHaveProperty("temperature");
  });

  it("has pictures as data URLs of their kind", () => {
    const images = ["/9j/4AAQ", "iVBORw0KGgoAAA", "R0lGODlh", "UklGRh4A", "data:image/png;base64,AA", "????"];
    expect(messagesOf([{ role: "user", content: "What is this?", images }])).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "What is this?" },
          ...["jpeg;base64,/9j/4AAQ", "png;base64,iVBORw0KGgoAAA", "gif;base64,R0lGODlh", "webp;base64,UklGRh4A"]
            .concat("png;base64,AA", "jpeg;base64,????")
            .map((rest) => ({ type: "image_url", image_url: { url: `data:image/${rest}` } })),
        ],
      },
    ]);
    expect(messagesOf([{ role: "user", images: ["/9j/"] }])).toMatchObject([{ content: [{ type: "image_url" }] }]);
  });

  it("ties the results of tools to their calls, whether or not its client sends ids", () => {
    const asked = (name: string, id?: string) => ({ id, function: { name, arguments: { of: name } } });
    const told = messagesOf([
      { role: "Assistant", content: "", tool_calls: [asked("a"), asked("b"), asked("c", "given")] },
      { role: "tool", content: "of b", tool_name: "b" },
      { role: "tool", content: "of a" },
      { role: "tool", content: "of c", tool_call_id: "given" },
      { role: "tool", content: "of nothing" },
    ]);
    const call = (id: string, name: string) => ({
      id,
      type: "function",
      function: { name, arguments: JSON.stringify({ of: name }) },
    });
    expect(told).toEqual([
      {
        role: "assistant",
        content: "",
        tool_calls: [call("call_0_0", "a"), call("call_0_1", "b"), call("given", "c")],
      },
      { role: "tool", content: "of b", tool_call_id: "call_0_1" },
      { role: "tool", content: "of a", tool_call_id: "call_0_0" },
      { role: "tool", content: "of c", tool_call_id: "given" },
      { role: "tool", content: "of nothing", tool_call_id: "call_4" },
    ]);
  });

  it("offers the same tools, and sends earlier thoughts back where they are understood", () => {
    const tools = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }];
    expect(bodyOf({ tools })["tools"]).toEqual(tools);
    const thought = [{ role: "assistant", content: "Hi", thinking: "Hm" }];
    expect(messagesOf(thought)).toEqual([{ role: "assistant", content: "Hi", reasoning_content: "Hm" }]);
    expect(messagesOf(thought, "openai")).toEqual([{ role: "assistant", content: "Hi" }]);
  });

  it("answers in JSON, or by a schema", () => {
    const schema = { type: "object", properties: { ok: { type: "boolean" } } };
    expect(bodyOf({ format: "json" })["response_format"]).toEqual({ type: "json_object" });
    expect(bodyOf({ format: schema })["response_format"]).toEqual({
      type: "json_schema",
      json_schema: { name: "answer", schema },
    });
    for (const format of ["", null]) expect(bodyOf({ format })).not.toHaveProperty("response_format");
  });

  it("thinks, or does not, by the words that its engine has for it", () => {
    const thinks = (think: unknown, engine: EngineName | null = "llama-server") => {
      const { reasoning_effort: effort, chat_template_kwargs: template } = bodyOf({ think }, engine);
      return [effort, template];
    };
    expect(thinks(undefined)).toEqual([undefined, undefined]);
    expect(thinks(true)).toEqual([undefined, { enable_thinking: true }]);
    expect(thinks(false)).toEqual(["none", { enable_thinking: false }]);
    expect(thinks("low")).toEqual(["low", { enable_thinking: true }]);
    expect(thinks("max")).toEqual(["high", { enable_thinking: true }]);
    expect(thinks(false, "vllm")).toEqual([undefined, { enable_thinking: false }]);
    expect(thinks(false, "openai")).toEqual(["none", undefined]);
    expect(thinks(true, null)).toEqual([undefined, undefined]);
  });

  it("asks for the likeliest words", () => {
    expect(bodyOf({ logprobs: true, top_logprobs: 2 })).toMatchObject({ logprobs: true, top_logprobs: 2 });
    expect(bodyOf({ logprobs: false, top_logprobs: 2 })).not.toHaveProperty("top_logprobs");
  });

  it.each([
    [{ messages: "Hi" }, "messages"],
    [{ messages: [{ role: "user", content: ["secret"] }] }, "messages.0.content"],
    [{ messages: [{ content: "secret" }] }, "messages.0.role"],
    [{ format: "yaml" }, "format"],
    [{ think: "secret" }, "think"],
    [{ options: { temperature: "secret" } }, "options.temperature"],
    [{ messages: [{ role: "user", images: [1] }] }, "messages.0.images.0"],
  ])("is refused where it is wrong, and nothing of it is quoted: %j", (body, param) => {
    let thrown: unknown;
    try {
      bodyOf(body);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(FarmError);
    expect(thrown).toMatchObject({ code: "invalid_request", param });
    expect(String(thrown)).not.toContain("secret");
  });
});

describe("a chat without messages", () => {
  it("is the smallest request that loads the model, and its answer says so", () => {
    const translated = put("ollama-chat", "chat", { messages: [] });
    expect(translated.body).toEqual({ model: "worker/m", messages: HI, max_tokens: 1, stream: false });
    const told = { model: "worker/m", message: { role: "assistant", content: "" }, done: true, done_reason: "load" };
    const answer = { choices: [{ message: { content: "x" }, finish_reason: "length" }] };
    expect(translated.whole(answer, { wallMs: 0, sinceSentMs: 1 })).toMatchObject(told);
    expect(JSON.parse(translated.wholeAsStream(answer, { wallMs: 0, sinceSentMs: 1 }))).toMatchObject(told);
    expect(() => translated.whole({ error: "no" }, { wallMs: 0, sinceSentMs: 1 })).toThrow("no");
  });

  it("unloads nothing", () => {
    for (const keep_alive of [0, "0", "0s", "0m", -0]) {
      expect(() => put("ollama-chat", "chat", { messages: [], keep_alive })).toThrow(
        expect.objectContaining({ code: "not_supported" }),
      );
    }
    for (const keep_alive of [-1, 300, "10m", "0.5h", null]) {
      expect(put("ollama-chat", "chat", { keep_alive }).body).toMatchObject({ max_tokens: 1 });
    }
  });
});
