import type { Api } from "@farmgate/shared";

type Json = Record<string, unknown>;

const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const picture = "iVBORw0KGgo=";
const dataUrl = `data:image/png;base64,${picture}`;
const called = { name: "look", arguments: '{"city":"Bern"}' };
const format = { type: "json_schema", json_schema: { name: "answer", schema } };

const ollamaSettings = {
  stream: true,
  format: schema,
  think: "low",
  options: { temperature: 0.5, num_predict: 9, seed: 1, stop: ["END"], repeat_penalty: 1.1, num_ctx: 4_096 },
  keep_alive: "5m",
};

/** Requests that use much of their API. Every translator takes one of them. */
export const REQUESTS: Readonly<Partial<Record<Api, readonly Json[]>>> = {
  chat: [
    {
      model: "m",
      messages: [
        { role: "developer", content: "Be brief." },
        {
          role: "user",
          content: [
            { type: "text", text: "Hi" },
            { type: "image_url", image_url: { url: dataUrl } },
          ],
        },
        { role: "assistant", content: null, tool_calls: [{ id: "c0", type: "function", function: called }] },
        { role: "tool", tool_call_id: "c0", content: "warm" },
      ],
      tools: [{ type: "function", function: { name: "look", description: "d", parameters: schema, strict: true } }],
      tool_choice: { type: "function", function: { name: "look" } },
      response_format: format,
      reasoning_effort: "low",
      temperature: 0.5,
      max_tokens: 9,
      stop: ["END"],
      stream: true,
      stream_options: { include_usage: true },
    },
  ],
  completions: [{ model: "m", prompt: "Hi", suffix: "b", max_tokens: 9, stop: "END", stream: true }],
  responses: [
    {
      model: "m",
      instructions: "Be brief.",
      input: [
        {
          role: "user",
          content: [
            { type: "input_text", text: "Hi" },
            { type: "input_image", image_url: dataUrl },
          ],
        },
        { type: "reasoning", content: [{ type: "reasoning_text", text: "hm" }] },
        { type: "function_call", call_id: "c0", ...called },
        { type: "function_call_output", call_id: "c0", output: "warm" },
        { type: "custom_tool_call", call_id: "c1", name: "patch", input: "x" },
        { type: "custom_tool_call_output", call_id: "c1", output: [{ type: "input_text", text: "done" }] },
      ],
      tools: [
        { type: "function", name: "look", description: "d", parameters: schema, strict: true },
        { type: "custom", name: "patch" },
      ],
      tool_choice: { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "look" }] },
      parallel_tool_calls: true,
      reasoning: { effort: "low", summary: "auto" },
      text: { format: { type: "json_schema", name: "answer", schema, strict: true } },
      max_output_tokens: 9,
      metadata: { a: "b" },
      stream: true,
    },
  ],
  messages: [
    {
      model: "m",
      max_tokens: 9,
      system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "Hi" },
            { type: "image", source: { type: "base64", media_type: "image/png", data: picture } },
            { type: "document", title: "t", source: { type: "text", media_type: "text/plain", data: "d" } },
          ],
        },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "hm", signature: "" },
            { type: "tool_use", id: "c0", name: "look", input: { city: "Bern" } },
          ],
        },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "c0", content: "warm", is_error: false }] },
      ],
      tools: [{ name: "look", description: "d", input_schema: schema }],
      tool_choice: { type: "tool", name: "look", disable_parallel_tool_use: true },
      thinking: { type: "enabled", budget_tokens: 1_024 },
      output_config: { effort: "low", format: { type: "json_schema", schema } },
      stop_sequences: ["END"],
      temperature: 0.5,
      top_k: 40,
      stream: true,
    },
  ],
  embeddings: [{ model: "m", input: ["a"], encoding_format: "float" }],
  rerank: [{ model: "m", query: "q", documents: ["a", { text: "b" }], top_n: 1, return_documents: true }],
  "ollama-chat": [
    {
      model: "m",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Hi", images: [picture] },
        { role: "assistant", content: "", thinking: "hm", tool_calls: [{ function: { name: "look", arguments: {} } }] },
        { role: "tool", content: "warm", tool_name: "look", tool_call_id: "c0" },
      ],
      tools: [{ type: "function", function: { name: "look", parameters: schema } }],
      logprobs: true,
      top_logprobs: 2,
      ...ollamaSettings,
    },
    { model: "m", messages: [] },
  ],
  "ollama-generate": [
    { model: "m", prompt: "Hi", system: "Be brief.", images: [picture], ...ollamaSettings },
    { model: "m", prompt: "Hi", suffix: "b", ...ollamaSettings },
    { model: "m", prompt: "Hi", raw: true, ...ollamaSettings },
  ],
  "ollama-embed": [{ model: "m", input: ["a"], dimensions: 2, truncate: true }],
  "ollama-embeddings": [{ model: "m", prompt: "a" }],
};

const usage = {
  prompt_tokens: 7,
  completion_tokens: 5,
  prompt_tokens_details: { cached_tokens: 3 },
  completion_tokens_details: { reasoning_tokens: 1 },
};
const timings = { prompt_n: 4, cache_n: 3, prompt_ms: 10.5, predicted_n: 5, predicted_ms: 30 };
const logprobs = { content: [{ token: "H", logprob: -1, bytes: [72], top_logprobs: [{ token: "H", logprob: -1 }] }] };
const delta = (value: Json, finish: string | null = null) => ({
  model: "w",
  choices: [{ index: 0, delta: value, logprobs, finish_reason: finish, stop_reason: null }],
});
const told = { model: "w", created_at: "2026-11-30T00:00:00Z" };
const counted = { done: true, done_reason: "stop", prompt_eval_count: 7, eval_count: 5, total_duration: 9 };

/** Streams that workers send, event by event. */
export const STREAMS: Readonly<Partial<Record<Api, readonly Json[]>>> = {
  chat: [
    { model: "w", choices: [], usage: null },
    delta({ role: "assistant", content: null, reasoning_content: "hm" }),
    delta({ content: "Hel" }),
    delta({ content: "lo", refusal: null }),
    delta({ tool_calls: [{ index: 0, id: "c0", type: "function", function: { name: "look", arguments: "" } }] }),
    delta({ tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] }),
    delta({ tool_calls: [{ index: 1, id: "c1", type: "function", function: { name: "look", arguments: "{}" } }] }),
    delta({ tool_calls: [{ index: 0, function: { arguments: '"Bern"}' } }] }),
    delta({}, "tool_calls"),
    { model: "w", choices: [], usage, timings },
  ],
  completions: [
    { model: "w", choices: [{ index: 0, text: "Hel", finish_reason: null }] },
    { model: "w", choices: [{ index: 0, text: "lo", finish_reason: "length" }] },
    { model: "w", choices: [], usage },
  ],
  infill: [
    { content: "Hel", stop: false },
    { content: "", stop: true, stop_type: "limit", tokens_evaluated: 7, timings },
  ],
  "ollama-chat": [
    { ...told, message: { role: "assistant", content: "", thinking: "hm" }, done: false },
    { ...told, message: { role: "assistant", content: "Hello" }, done: false },
    {
      ...told,
      message: {
        role: "assistant",
        content: "",
        tool_calls: [{ id: "c0", function: { name: "look", arguments: {} } }],
      },
      done: false,
    },
    { ...told, message: { role: "assistant", content: "" }, ...counted },
  ],
  "ollama-generate": [
    { ...told, response: "Hello", done: false },
    { ...told, response: "", ...counted },
  ],
};

const message = {
  role: "assistant",
  content: "Hello",
  reasoning_content: "hm",
  tool_calls: [{ id: "c0", type: "function", function: called }],
};

/** The same as whole answers. */
export const WHOLES: Readonly<Partial<Record<Api, unknown>>> = {
  chat: { model: "w", choices: [{ index: 0, message, logprobs, finish_reason: "tool_calls" }], usage, timings },
  completions: { model: "w", choices: [{ index: 0, text: "Hello", finish_reason: "stop" }], usage },
  infill: { content: "Hello", stop: true, stop_type: "limit", tokens_evaluated: 7, timings },
  embeddings: { data: [{ index: 0, embedding: [0.5, 1] }], usage },
  "tei-rerank": [
    { index: 1, score: 0.9 },
    { index: 0, score: 0.1 },
  ],
  "ollama-chat": { ...told, message: { role: "assistant", content: "Hello", thinking: "hm" }, ...counted },
  "ollama-generate": { ...told, response: "Hello", ...counted },
  "ollama-embed": { model: "w", embeddings: [[0.5, 1]], prompt_eval_count: 7 },
  "ollama-embeddings": { embedding: [0.5, 1] },
};
