import { FarmError } from "@farmgate/shared";
import { describe, expect, it } from "vitest";
import { countTokensToChat } from "../../../src/translate/anthropic/count-tokens-to-chat.ts";
import { translated } from "./read-message.ts";

const picture = { type: "image", source: { type: "base64", media_type: "image/png", data: "QUJD" } };
const pictureUrl = { type: "image_url", image_url: { url: "data:image/png;base64,QUJD" } };

function messagesOf(body: Record<string, unknown>): unknown {
  return translated(body).body["messages"];
}

function user(...content: unknown[]): object {
  return { role: "user", content };
}

function refusalOf(body: Record<string, unknown>): FarmError {
  try {
    translated(body);
  } catch (error) {
    if (error instanceof FarmError) return error;
  }
  throw new Error("it was not refused");
}

describe("a message request as chat", () => {
  it("asks the worker's own model, with usage in a stream alone", () => {
    expect(translated({ metadata: { user_id: "u" } }).body).toEqual({
      model: "m",
      messages: [{ role: "user", content: "hi" }],
      max_tokens: 9,
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(translated({}, false).body).not.toHaveProperty("stream_options");
  });

  it.each([
    ["a text", "Be brief.", "Be brief."],
    [
      "blocks",
      [
        { type: "text", text: "One.", cache_control: {} },
        { type: "text", text: "Two." },
      ],
      "One.\n\nTwo.",
    ],
    [
      "bookkeeping",
      [
        { type: "text", text: "x-anthropic-billing-header: cch=1;" },
        { type: "text", text: "B" },
      ],
      "B",
    ],
  ])("has the system text first, given as %s", (_, system, text) => {
    expect(messagesOf({ system })).toEqual([
      { role: "system", content: text },
      { role: "user", content: "hi" },
    ]);
  });

  it("puts a later system message where it stands, into the user's turn", () => {
    const messages = [
      { role: "system", content: "First." },
      user({ type: "text", text: "a" }),
      { role: "system", content: "Note." },
      { role: "assistant", content: "b" },
      { role: "user", content: "c" },
      { role: "user", content: "d" },
    ];
    expect(messagesOf({ messages })).toEqual([
      { role: "system", content: "First." },
      { role: "user", content: "a\n\nNote." },
      { role: "assistant", content: "b" },
      { role: "user", content: "c\n\nd" },
    ]);
  });

  it("sends pictures as URLs among the texts", () => {
    const byUrl = { type: "image", source: { type: "url", url: "https://example.org/a.png" } };
    expect(messagesOf({ messages: [user(picture, { type: "text", text: "what?" }, byUrl)] })).toEqual([
      {
        role: "user",
        content: [
          pictureUrl,
          { type: "text", text: "what?" },
          { type: "image_url", image_url: { url: "https://example.org/a.png" } },
        ],
      },
    ]);
  });

  it("sends the text of documents and search results under their titles", () => {
    const plain = { type: "document", title: "Rules", source: { type: "text", media_type: "text/plain", data: "No." } };
    const parts = { type: "document", source: { type: "content", content: [{ type: "text", text: "Yes." }] } };
    const found = { type: "search_result", title: "T", source: "S", content: [{ type: "text", text: "F" }] };
    expect(messagesOf({ messages: [user(plain, parts, found)] })).toEqual([
      { role: "user", content: "Rules\n\nNo.\n\nYes.\n\nT\nS\n\nF" },
    ]);
  });

  it("answers calls right behind them, with pictures in what the user says then", () => {
    const messages = [
      { role: "user", content: "weather?" },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "hm", signature: "s" },
          { type: "redacted_thinking", data: "x" },
          { type: "text", text: "Let me look." },
          { type: "tool_use", id: "t1", name: "look", input: { city: "Bern" } },
          { type: "tool_use", id: "t2", name: "look", input: {} },
        ],
      },
      user(
        { type: "text", text: "go on" },
        { type: "tool_result", tool_use_id: "t1", content: [{ type: "text", text: "sun" }, picture] },
        { type: "tool_result", tool_use_id: "t2", is_error: true, content: "no such city" },
        { type: "tool_result", tool_use_id: "t3" },
      ),
    ];
    const call = (id: string, args: string) => ({ id, type: "function", function: { name: "look", arguments: args } });
    expect(messagesOf({ messages })).toEqual([
      { role: "user", content: "weather?" },
      {
        role: "assistant",
        content: "Let me look.",
        reasoning_content: "hm",
        tool_calls: [call("t1", '{"city":"Bern"}'), call("t2", "{}")],
      },
      { role: "tool", tool_call_id: "t1", content: "sun\n\n[the picture follows]" },
      { role: "tool", tool_call_id: "t2", content: "Error: no such city" },
      { role: "tool", tool_call_id: "t3", content: "" },
      { role: "user", content: [pictureUrl, { type: "text", text: "go on" }] },
    ]);
  });

  it("says nothing for a user who only answers calls", () => {
    const messages = [user({ type: "tool_result", tool_use_id: "t1", content: "ok" })];
    expect(messagesOf({ messages })).toEqual([{ role: "tool", tool_call_id: "t1", content: "ok" }]);
  });

  const tools = [{ name: "look", description: "Looks.", input_schema: { type: "object" } }];
  it.each([
    [{ type: "auto" }, { tool_choice: "auto" }],
    [
      { type: "any", disable_parallel_tool_use: true },
      { tool_choice: "required", parallel_tool_calls: false },
    ],
    [{ type: "none" }, { tool_choice: "none" }],
    [{ type: "tool", name: "look" }, { tool_choice: { type: "function", function: { name: "look" } } }],
    [undefined, {}],
  ])("offers tools with the choice %j", (choice, expected) => {
    const {
      model: _m,
      messages: _s,
      stream: _t,
      stream_options: _o,
      max_tokens: _x,
      ...rest
    } = translated({
      tools,
      tool_choice: choice,
    }).body;
    const offered = {
      type: "function",
      function: { name: "look", description: "Looks.", parameters: { type: "object" } },
    };
    expect(rest).toEqual({ tools: [offered], ...expected });
  });

  it("leaves the choice out where there are no tools", () => {
    expect(translated({ tools: [], tool_choice: { type: "auto" } }).body).not.toHaveProperty("tool_choice");
  });

  it.each([
    [{ thinking: { type: "enabled", budget_tokens: 1024 } }, { chat_template_kwargs: { enable_thinking: true } }],
    [
      { thinking: { type: "disabled" } },
      { chat_template_kwargs: { enable_thinking: false }, reasoning_effort: "none" },
    ],
    [{ thinking: { type: "adaptive" } }, {}],
    [{ output_config: { effort: "max" } }, { reasoning_effort: "high" }],
    [{ output_config: { effort: "low" } }, { reasoning_effort: "low" }],
    [{ stop_sequences: ["\n\nHuman:", "END"] }, { stop: ["\n\nHuman:", "END"] }],
    [
      { stop_sequences: [], temperature: 0, top_p: 0.9, top_k: 40 },
      { temperature: 0, top_p: 0.9, top_k: 40 },
    ],
    [
      { output_config: { format: { type: "json_schema", schema: { type: "object" } } } },
      {
        response_format: {
          type: "json_schema",
          json_schema: { name: "answer", strict: true, schema: { type: "object" } },
        },
      },
    ],
    [
      { output_format: { type: "json_schema", schema: {} } },
      { response_format: { type: "json_schema", json_schema: { name: "answer", strict: true, schema: {} } } },
    ],
  ])("sets what %j asks for", (body, expected) => {
    const { model: _m, messages: _s, stream: _t, stream_options: _o, max_tokens: _x, ...rest } = translated(body).body;
    expect(rest).toEqual(expected);
  });

  it("tells a server that may refuse it nothing of thinking", () => {
    const thought = { role: "assistant", content: [{ type: "thinking", thinking: "hm", signature: "" }] };
    const body = { thinking: { type: "disabled" }, messages: [{ role: "user", content: "hi" }, thought] };
    for (const engine of ["openai", null] as const) {
      const put = translated(body, false, engine).body;
      expect(put).toEqual({
        model: "m",
        messages: [
          { role: "user", content: "hi" },
          { role: "assistant", content: "" },
        ],
        max_tokens: 9,
        stream: false,
      });
    }
  });

  it.each([
    [{ messages: "hi" }, "messages: expected a list."],
    [{ messages: [{ role: "robot", content: "hi" }] }, 'messages.0.role: expected "user" or "assistant".'],
    [{ messages: [user({ type: "text", text: 1 })] }, "messages.0.content.0.text: expected a string."],
    [{ messages: [user("x")] }, "messages.0.content.0: expected an object."],
    [{ max_tokens: "many" }, "max_tokens: expected a number."],
    [{ system: [picture] }, "system.0: expected a block of text."],
    [{ tools: [{ name: "a" }] }, "tools.0.input_schema: expected an object."],
    [{ tools, tool_choice: { type: "some" } }, 'tool_choice.type: expected "auto", "any", "tool" or "none".'],
    [{ messages: [{ role: "assistant", content: [picture] }] }, "messages.0.content.0: an answer holds no image."],
  ])("is refused as wrong: %j", (body, message) => {
    const error = refusalOf(body);
    expect([error.code, error.message, error.message.startsWith(`${error.param}: `)]).toEqual([
      "invalid_request",
      message,
      true,
    ]);
  });

  const pdf = { type: "document", source: { type: "base64", media_type: "application/pdf", data: "JVBE" } };
  it.each([
    ["a PDF", { messages: [user(pdf)] }, /no worker with this model reads PDFs/i],
    ["a stored picture", { messages: [user({ type: "image", source: { type: "file", file_id: "f" } })] }, /base64/],
    [
      "a web search",
      { tools: [{ type: "web_search_20250305", name: "web_search" }] },
      /web_search_20250305.*input_schema/,
    ],
    ["what a search found", { messages: [user({ type: "web_search_tool_result" })] }, /web_search_tool_result/],
    ["an MCP server", { mcp_servers: [{ url: "https://example.org" }] }, /MCP/],
  ])("is refused, since no chat has it: %s", (_, body, message) => {
    const error = refusalOf(body);
    expect(error.code).toBe("not_supported");
    expect(error.message).toMatch(message);
  });
});

describe("a count of tokens as chat", () => {
  const put = countTokensToChat(
    { model: "asked", messages: [{ role: "user", content: "hi" }], system: "s", tools: [] },
    { model: "m", engine: null, requestId: "r1", wallMs: 0 },
  );
  const at = { wallMs: 0, sinceSentMs: 0 };

  it("asks for one token", () => {
    expect(put.body).toEqual({
      model: "m",
      messages: [
        { role: "system", content: "s" },
        { role: "user", content: "hi" },
      ],
      max_tokens: 1,
      stream: false,
    });
  });

  it("answers what the prompt had, the cached part included", () => {
    const usage = { prompt_tokens: 12, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 4 } };
    expect(put.whole({ usage }, at)).toEqual({ input_tokens: 12 });
    expect(put.whole({ timings: { prompt_n: 3, cache_n: 9 } }, at)).toEqual({ input_tokens: 12 });
    expect(() => put.whole({ choices: [] }, at)).toThrow("does not tell");
  });
});
