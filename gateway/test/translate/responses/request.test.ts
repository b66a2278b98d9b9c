import { FarmError } from "@farmgate/shared";
import { describe, expect, it } from "vitest";
import { responsesToChat } from "../../../src/translate/responses/responses-to-chat.ts";
import { AT, CONTEXT } from "../../support/translate.ts";

function put(body: Record<string, unknown>) {
  return responsesToChat({ model: "m", input: "Hi", ...body }, CONTEXT).body;
}

function refusal(body: Record<string, unknown>): FarmError {
  try {
    put(body);
  } catch (error) {
    if (error instanceof FarmError) return error;
    throw error;
  }
  throw new Error("it was not refused");
}

const FUNCTION = { type: "function", name: "look", description: "looks", parameters: { type: "object" }, strict: true };

describe("a request of /v1/responses put as chat", () => {
  it("is one message for a text, under the worker's name of the model", () => {
    expect(put({})).toEqual({ model: "worker-model", messages: [{ role: "user", content: "Hi" }], stream: false });
  });

  it("begins with the instructions, joined with the system texts that follow", () => {
    const input = [
      { role: "developer", content: [{ type: "input_text", text: "Be kind." }] },
      { type: "message", role: "user", content: "Hi" },
    ];
    expect(put({ instructions: "Be short.", input })["messages"]).toEqual([
      { role: "system", content: "Be short.\n\nBe kind." },
      { role: "user", content: "Hi" },
    ]);
  });

  it("makes one turn of reasoning, text and calls one message, which the results follow", () => {
    const input = [
      { role: "user", content: "Weather?" },
      { type: "reasoning", id: "rs_1", summary: [], content: [{ type: "reasoning_text", text: "I look." }] },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "One moment.", annotations: [] }] },
      { type: "function_call", call_id: "a", name: "look", arguments: '{"at":1}' },
      { type: "function_call", call_id: "b", name: "look", arguments: '{"at":2}' },
      { type: "function_call_output", call_id: "a", output: "rain" },
      { type: "function_call_output", call_id: "b", output: [{ type: "input_text", text: "sun" }] },
    ];
    const call = (id: string, at: number) => ({
      id,
      type: "function",
      function: { name: "look", arguments: `{"at":${at}}` },
    });
    expect(put({ input })["messages"]).toEqual([
      { role: "user", content: "Weather?" },
      {
        role: "assistant",
        content: "One moment.",
        reasoning_content: "I look.",
        tool_calls: [call("a", 1), call("b", 2)],
      },
      { role: "tool", tool_call_id: "a", content: "rain" },
      { role: "tool", tool_call_id: "b", content: "sun" },
    ]);
  });

  it("keeps results next to their calls where reasoning stands between the calls", () => {
    const thought = { type: "reasoning", summary: [{ type: "summary_text", text: "Hm. " }] };
    const call = (id: string) => ({ type: "function_call", call_id: id, name: "look", arguments: "{}" });
    const input = [thought, call("a"), thought, call("b"), { type: "function_call_output", call_id: "a", output: "" }];
    const messages = put({ input })["messages"] as { role: string; reasoning_content?: string }[];
    expect(messages.map(({ role }) => role)).toEqual(["assistant", "tool"]);
    expect(messages[0]?.reasoning_content).toBe("Hm. Hm. ");
  });

  it("passes pictures on", () => {
    const url = "data:image/png;base64,AAAA";
    const content = [
      { type: "input_text", text: "What is it?" },
      { type: "input_image", image_url: url, detail: "low" },
    ];
    expect(put({ input: [{ role: "user", content }] })["messages"]).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "What is it?" },
          { type: "image_url", image_url: { url, detail: "low" } },
        ],
      },
    ]);
  });

  it("translates functions and the choice among them", () => {
    const { type, ...described } = FUNCTION;
    expect(put({ tools: [FUNCTION], tool_choice: { type, name: "look" }, parallel_tool_calls: false })).toMatchObject({
      tools: [{ type, function: described }],
      tool_choice: { type, function: { name: "look" } },
      parallel_tool_calls: false,
    });
    const more = [FUNCTION, { type, name: "find", parameters: {} }];
    const allowed = { type: "allowed_tools", mode: "required", tools: [{ type, name: "find" }] };
    expect(put({ tools: more, tool_choice: allowed })).toMatchObject({
      tools: [{ function: { name: "find" } }],
      tool_choice: "required",
    });
  });

  it("leaves out a tool that OpenAI runs where the model is free not to use it", () => {
    const chat = put({ tools: [{ type: "web_search", external_web_access: false }, FUNCTION], tool_choice: "auto" });
    expect(chat["tools"]).toMatchObject([{ function: { name: "look" } }]);
    expect(put({ tools: [{ type: "web_search" }] })).not.toHaveProperty("tools");
  });

  it("offers the tools of a namespace under names of their own, and knows calls of them again", () => {
    const group = {
      type: "namespace",
      name: "crm",
      description: "d",
      tools: [FUNCTION, { type: "custom", name: "note" }],
    };
    const called = { type: "function_call", call_id: "a", namespace: "crm", name: "look", arguments: "{}" };
    const choice = { type: "function", name: "look", namespace: "crm" };
    expect(put({ tools: [group, FUNCTION], tool_choice: choice, input: [called] })).toMatchObject({
      tools: [{ function: { name: "crm__look" } }, { function: { name: "crm__note" } }, { function: { name: "look" } }],
      tool_choice: { function: { name: "crm__look" } },
      messages: [{ tool_calls: [{ function: { name: "crm__look" } }] }],
    });
  });

  it("tells the model of a custom tool what its text must be like", () => {
    const format = { type: "grammar", syntax: "lark", definition: "start: WORD" };
    expect(put({ tools: [{ type: "custom", name: "patch", description: "patches", format }] })).toMatchObject({
      tools: [{ function: { description: "patches\n\nThe input must match this lark grammar:\nstart: WORD" } }],
    });
  });

  it("repeats no more of what it does not know than fits an error", () => {
    expect(refusal({ input: [{ type: "x".repeat(1_000) }] }).message.length).toBeLessThan(200);
  });

  it("translates limits, reasoning and the form of the answer", () => {
    const format = { type: "json_schema", name: "answer", schema: { type: "object" }, strict: true };
    expect(
      put({ max_output_tokens: 9, temperature: 0, top_p: null, reasoning: { effort: "low" }, text: { format } }),
    ).toEqual({
      model: "worker-model",
      messages: [{ role: "user", content: "Hi" }],
      max_tokens: 9,
      temperature: 0,
      reasoning_effort: "low",
      response_format: {
        type: "json_schema",
        json_schema: { name: "answer", schema: { type: "object" }, strict: true },
      },
      stream: false,
    });
    expect(put({ text: { format: { type: "json_object" } } })["response_format"]).toEqual({ type: "json_object" });
  });

  it("asks for usage in a stream, which its last event tells, but not a server that may refuse to be asked", () => {
    expect(put({ stream: true })).toMatchObject({ stream: true, stream_options: { include_usage: true } });
    const strict = responsesToChat({ input: "Hi", stream: true }, { ...CONTEXT, engine: "openai" }).body;
    expect(strict["stream_options"]).toBeUndefined();
  });

  it("leaves out what changes nothing here", () => {
    const idle = { store: true, metadata: { a: "b" }, include: ["reasoning.encrypted_content"], prompt_cache_key: "k" };
    expect(put({ ...idle, truncation: "auto", service_tier: "auto", user: "u", background: false })).toEqual(put({}));
  });

  it.each([
    ["token probabilities", { top_logprobs: 2 }, "top_logprobs"],
    ["the same by the other way", { include: ["message.output_text.logprobs"] }, "include"],
    ["a form of another kind", { text: { format: { type: "grammar" } } }, "text.format"],
    ["an earlier answer", { previous_response_id: "resp_1" }, "previous_response_id"],
    ["a kept conversation", { conversation: "conv_1" }, "conversation"],
    ["a kept prompt", { prompt: { id: "p" } }, "prompt"],
    ["an answer for later", { background: true }, "background"],
    [
      "a tool that OpenAI runs, where one must be used",
      { tools: [{ type: "web_search" }], tool_choice: "required" },
      "tools",
    ],
    ["the choice of one", { tool_choice: { type: "file_search" } }, "tool_choice"],
    ["an item that is kept", { input: [{ type: "item_reference", id: "x" }] }, "input[0]"],
    ["an item of such a tool", { input: [{ type: "web_search_call" }] }, "input[0]"],
    [
      "a kept file",
      { input: [{ role: "user", content: [{ type: "input_image", file_id: "f" }] }] },
      "input[0].content",
    ],
    ["a document", { input: [{ role: "user", content: [{ type: "input_file" }] }] }, "input[0].content"],
  ])("refuses %s and says which field it is", (_, body, param) => {
    expect(refusal(body)).toMatchObject({ code: "not_supported", param });
  });

  it.each([
    ["no input", { input: undefined }, "input"],
    ["tools that are no list", { tools: "look" }, "tools"],
    ["a call without a name", { input: [{ type: "function_call", call_id: "c" }] }, "input[0].name"],
    ["an item that is none", { input: [7] }, "input[0]"],
    ["an unknown role", { input: [{ role: "wizard", content: "Hi" }] }, "input[0]"],
    ["content of another type", { input: [{ role: "user", content: 7 }] }, "input[0].content"],
  ])("calls %s wrong", (_, body, param) => {
    expect(refusal(body)).toMatchObject({ code: "invalid_request", param });
  });
});

describe("a whole chat answer told as a response", () => {
  it("repeats the request's settings", () => {
    const body = { model: "m", input: "Hi", instructions: "Be short.", temperature: 0.5, metadata: { a: "b" } };
    const answer = { model: "m", choices: [{ message: { content: "Hello" }, finish_reason: "stop" }] };
    expect(responsesToChat(body, CONTEXT).whole(answer, AT)).toMatchObject({
      id: "resp_req_1",
      object: "response",
      created_at: 1_800_000_000,
      status: "completed",
      instructions: "Be short.",
      temperature: 0.5,
      metadata: { a: "b" },
      output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "Hello" }] }],
      usage: null,
    });
  });

  it("is a fault of the worker when there is no answer in it", () => {
    expect(() => responsesToChat({ input: "Hi" }, CONTEXT).whole({ model: "m" }, AT)).toThrow(/says nothing/);
    expect(() => responsesToChat({ input: "Hi" }, CONTEXT).whole({ error: { message: "no" } }, AT)).toThrow("no");
  });
});
