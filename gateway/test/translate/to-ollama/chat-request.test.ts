import { FarmError } from "@farmgate/shared";
import { describe, expect, it } from "vitest";
import { chatToOllama } from "../../../src/translate/to-ollama/chat-to-ollama.ts";
import { CONTEXT } from "../../support/translate.ts";

function put(body: Record<string, unknown>) {
  return chatToOllama({ model: "m", messages: [{ role: "user", content: "Hi" }], ...body }, CONTEXT).body;
}

function refusal(body: Record<string, unknown>): unknown {
  try {
    return put(body);
  } catch (error) {
    return error;
  }
}

const FUNCTION = { name: "look", description: "looks", parameters: { type: "object" } };

describe("a chat request put to Ollama", () => {
  it("says that it wants no stream, where Ollama would send one", () => {
    expect(put({})).toEqual({ model: "worker-model", messages: [{ role: "user", content: "Hi" }], stream: false });
  });

  it("sends calls as objects, and results with the name of their function", () => {
    const call = { id: "a", type: "function", function: { name: "look", arguments: '{"at":"é"}' } };
    const messages = [
      { role: "developer", content: "Be kind." },
      { role: "assistant", content: null, reasoning_content: "I look.", tool_calls: [call] },
      { role: "tool", tool_call_id: "a", content: "rain" },
    ];
    expect(put({ messages })["messages"]).toEqual([
      { role: "system", content: "Be kind." },
      {
        role: "assistant",
        content: "",
        thinking: "I look.",
        tool_calls: [{ id: "a", function: { name: "look", arguments: { at: "é" } } }],
      },
      { role: "tool", content: "rain", tool_name: "look", tool_call_id: "a" },
    ]);
  });

  it("sends the bytes of pictures beside the text", () => {
    const content = [
      { type: "text", text: "What is" },
      { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0K" } },
      { type: "text", text: "this?" },
    ];
    expect(put({ messages: [{ role: "user", content }] })["messages"]).toEqual([
      { role: "user", content: "What is\nthis?", images: ["iVBORw0K"] },
    ]);
  });

  it("turns settings into options, and never touches the context's length", () => {
    const settings = { temperature: 0, top_p: 0.5, seed: 1, stop: "END", max_completion_tokens: 9, num_ctx: 99 };
    expect(put({ ...settings, presence_penalty: null })["options"]).toEqual({
      temperature: 0,
      top_p: 0.5,
      seed: 1,
      stop: ["END"],
      num_predict: 9,
    });
  });

  it.each([
    [{ type: "text" }, undefined],
    [{ type: "json_object" }, "json"],
    [{ type: "json_object", schema: { type: "array" } }, { type: "array" }],
    [{ type: "json_schema", json_schema: { name: "a", schema: { type: "object" } } }, { type: "object" }],
  ])("asks for the form %j", (format, wanted) => {
    expect(put({ response_format: format })["format"]).toEqual(wanted);
  });

  it.each([
    ["none", false],
    ["minimal", "low"],
    ["medium", "medium"],
    ["xhigh", "high"],
    [undefined, undefined],
  ])("takes the effort %s as think: %s", (effort, think) => {
    expect(put({ reasoning_effort: effort })["think"]).toBe(think);
  });

  it("tells a template that is not to think by `think`, and none that is", () => {
    expect(put({ chat_template_kwargs: { enable_thinking: false } })["think"]).toBe(false);
    expect(put({ chat_template_kwargs: { enable_thinking: true } })["think"]).toBeUndefined();
  });

  it("keeps what an earlier answer refused, and results of older functions", () => {
    const messages = [
      { role: "assistant", content: null, refusal: "I cannot." },
      { role: "function", name: "look", content: "rain" },
    ];
    expect(put({ messages })["messages"]).toEqual([
      { role: "assistant", content: "I cannot." },
      { role: "tool", content: "rain", tool_name: "look" },
    ]);
  });

  it("offers the functions that the choice leaves", () => {
    const tools = [
      { type: "function", function: { ...FUNCTION, strict: true } },
      { type: "function", function: { ...FUNCTION, name: "find" } },
    ];
    const named = { type: "function", function: { name: "look" } };
    expect(put({ tools, tool_choice: named })["tools"]).toEqual([{ type: "function", function: FUNCTION }]);
    const allowed = { mode: "auto", tools: [named] };
    const bound = put({ tools, tool_choice: { type: "allowed_tools", allowed_tools: allowed } });
    expect(bound["tools"]).toEqual([{ type: "function", function: FUNCTION }]);
    expect(put({ tools, tool_choice: "none" })["tools"]).toBeUndefined();
    expect(put({ tools, tool_choice: "required" })["tools"]).toHaveLength(2);
  });

  it.each([
    ["several answers", { n: 2 }, "n"],
    ["token probabilities", { logprobs: true }, "logprobs"],
    ["sound", { audio: { voice: "a" } }, "audio"],
    ["sound by its kind", { modalities: ["text", "audio"] }, "modalities"],
    ["a bias", { logit_bias: { 7: -100 } }, "logit_bias"],
    ["a search", { web_search_options: {} }, "web_search_options"],
    ["a grammar", { grammar: 'root ::= "a"' }, "grammar"],
    ["a form of another kind", { response_format: { type: "regex" } }, "response_format"],
    [
      "an older call",
      { messages: [{ role: "assistant", function_call: { name: "f", arguments: "" } }] },
      "messages[0]",
    ],
    ["another kind of tool", { tools: [{ type: "custom", custom: { name: "x" } }] }, "tools"],
    [
      "a picture from elsewhere",
      {
        messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "https://example.com/a.png" } }] }],
      },
      "messages[0]",
    ],
    [
      "spoken words",
      { messages: [{ role: "user", content: [{ type: "input_audio", input_audio: {} }] }] },
      "messages[0]",
    ],
  ])("refuses %s and says which field it is", (_, body, param) => {
    const error = refusal(body);
    expect(error).toBeInstanceOf(FarmError);
    expect(error).toMatchObject({ code: "not_supported", param });
  });

  it.each([
    ["no list of messages", { messages: "Hi" }],
    ["a message without a role", { messages: [{ content: "Hi" }] }],
    ["tools that are no list", { tools: {} }],
    [
      "arguments that nest without end",
      {
        messages: [
          {
            role: "assistant",
            tool_calls: [
              { id: "a", function: { name: "f", arguments: `${'{"a":'.repeat(9_000)}1${"}".repeat(9_000)}` } },
            ],
          },
        ],
      },
    ],
    [
      "arguments that are no JSON",
      { messages: [{ role: "assistant", tool_calls: [{ id: "a", function: { name: "f", arguments: "{" } }] }] },
    ],
  ])("calls %s wrong", (_, body) => {
    expect(refusal(body)).toMatchObject({ code: "invalid_request" });
  });

  it("allows what asks for nothing more", () => {
    expect(put({ n: 1, logprobs: false, functions: null, logit_bias: {}, modalities: ["text"] })).toEqual(put({}));
  });
});
