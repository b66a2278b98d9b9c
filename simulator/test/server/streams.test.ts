import { expect, test } from "vitest";
import { chat, engineWith, eventsOf, post } from "./ask.ts";

interface Chunk {
  choices: {
    delta: { content?: string | null; tool_calls?: { id?: string; function: object }[] };
    finish_reason: string | null;
  }[];
  usage?: object;
  timings?: { cache_n: number };
  system_fingerprint: string;
}
const chunks = (body: string) => eventsOf(body).filter((event) => event !== "[DONE]") as Chunk[];
const textOf = (body: string) =>
  chunks(body)
    .map((chunk) => chunk.choices[0]?.delta.content ?? "")
    .join("");

test("a chat stream has llama-server's order of chunks", async () => {
  const engine = await engineWith();
  const { status, headers, body } = await chat(engine, { stream: true }).answer;
  expect(status).toBe(200);
  expect(headers).toMatchObject({
    server: "llama.cpp",
    "content-type": "text/event-stream",
    "x-accel-buffering": "no",
  });
  const all = chunks(body);
  expect(all[0]?.choices[0]?.delta).toEqual({ role: "assistant", content: null });
  expect(all).toHaveLength(1 + 8 + 1);
  expect(all.at(-1)).toMatchObject({ choices: [{ delta: {}, finish_reason: "length" }], timings: { predicted_n: 8 } });
  expect(all.every((chunk) => chunk.usage === undefined && chunk.system_fingerprint === "simulated")).toBe(true);
  expect(body.endsWith("data: [DONE]\n\n")).toBe(true);
});

test("usage comes in a chunk of its own, when asked for", async () => {
  const engine = await engineWith();
  const { body } = await chat(engine, { stream: true, stream_options: { include_usage: true } }).answer;
  expect(chunks(body).at(-1)).toMatchObject({
    choices: [],
    usage: { completion_tokens: 8, prompt_tokens: 11, total_tokens: 19, prompt_tokens_details: { cached_tokens: 0 } },
  });
});

test("streamed or not, the text is the same, and the same again", async () => {
  const engine = await engineWith();
  const streamed = await chat(engine, { stream: true, max_tokens: 200 }).answer;
  const whole = JSON.parse((await chat(engine, { max_tokens: 200 }).answer).body);
  expect(textOf(streamed.body)).toBe(whole.choices[0].message.content);
  expect(whole).toMatchObject({ object: "chat.completion", usage: { completion_tokens: 200 } });
  const other = await engineWith();
  expect(JSON.parse((await chat(other, { max_tokens: 200 }).answer).body).choices).toEqual(whole.choices);
});

test("a demanded tool is streamed as a call whose arguments come in pieces", async () => {
  const engine = await engineWith();
  const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
  const tools = [{ type: "function", function: { name: "get_weather", parameters } }];
  const { body } = await chat(engine, { stream: true, tools, tool_choice: "required" }).answer;
  const calls = chunks(body).flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? []);
  expect(calls[0]).toMatchObject({ id: expect.any(String), type: "function", function: { name: "get_weather" } });
  expect(calls.slice(1).every((call) => call.id === undefined)).toBe(true);
  const text = calls.map((call) => (call.function as { arguments: string }).arguments).join("");
  expect(JSON.parse(text)).toEqual({ city: expect.any(String) });
  expect(chunks(body).at(-1)?.choices[0]?.finish_reason).toBe("tool_calls");
  const whole = JSON.parse((await chat(engine, { tools, tool_choice: "required" }).answer).body);
  expect(whole.choices[0].message.tool_calls[0].function).toEqual({ name: "get_weather", arguments: text });
});

test("completions, responses and messages stream in their own words", async () => {
  const engine = await engineWith();
  const completion = await post(engine, "/v1/completions", { model: "a", prompt: "x", max_tokens: 3, stream: true });
  expect(eventsOf(completion.body)).toMatchObject([
    { object: "text_completion", choices: [{ finish_reason: null }] },
    {},
    {},
    { choices: [{ text: "", finish_reason: "length" }], usage: { completion_tokens: 3 }, timings: {} },
    "[DONE]",
  ]);
  const response = await post(engine, "/v1/responses", { model: "a", input: "x", max_output_tokens: 2, stream: true });
  const names = (text: string) => [...text.matchAll(/^event: (.*)$/gm)].map((match) => match[1]);
  expect(names(response.body)).toEqual([
    "response.created",
    "response.in_progress",
    "response.output_item.added",
    "response.content_part.added",
    "response.output_text.delta",
    "response.output_text.delta",
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
    "response.completed",
  ]);
  expect(response.body).not.toContain("[DONE]");
  const ask = { model: "a", max_tokens: 2, messages: [{ role: "user", content: "x" }], stream: true };
  expect(names((await post(engine, "/v1/messages", ask)).body)).toEqual([
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
  ]);
});

test("a conversation that comes back finds its prefix cached", async () => {
  const engine = await engineWith();
  const messages = [{ role: "user", content: "Tell me about gardens. ".repeat(20) }];
  const first = JSON.parse((await chat(engine, { messages }).answer).body);
  expect(first.timings.cache_n).toBe(0);
  const next = [...messages, first.choices[0].message, { role: "user", content: "And then?" }];
  const second = JSON.parse((await chat(engine, { messages: next }).answer).body);
  const whole = first.usage.prompt_tokens + first.usage.completion_tokens;
  expect(second.timings.cache_n).toBeGreaterThanOrEqual(first.usage.prompt_tokens);
  expect(second.timings.cache_n).toBeLessThan(second.usage.prompt_tokens);
  expect(second.usage).toMatchObject({ prompt_tokens_details: { cached_tokens: second.timings.cache_n } });
  expect(whole).toBeGreaterThan(0);
});

test("reading the prompt takes its time before the first byte, and a token its time after", async () => {
  const engine = await engineWith({
    promptTokensPerSecond: 200,
    tokensPerSecond: 100,
    models: [{ name: "a", loaded: true }],
  });
  const started = performance.now();
  const asked = chat(engine, { stream: true, max_tokens: 30, messages: [{ role: "user", content: "x".repeat(280) }] });
  await asked.firstBytes;
  const first = performance.now() - started;
  await asked.answer;
  const whole = performance.now() - started;
  expect(first).toBeGreaterThan(350);
  expect(whole - first).toBeGreaterThan(250);
  expect(whole).toBeLessThan(5_000);
});

test("a fast engine keeps its speed", async () => {
  const engine = await engineWith({ tokensPerSecond: 5_000, models: [{ name: "a", loaded: true }] });
  const started = performance.now();
  const { body } = await chat(engine, { stream: true, max_tokens: 2_000 }).answer;
  expect(chunks(body)).toHaveLength(2_002);
  const took = performance.now() - started;
  expect(took).toBeGreaterThan(380);
  expect(took).toBeLessThan(3_000);
});

test("500 streams at once all end, each with its own text", async () => {
  const engine = await engineWith({ slots: 500, tokensPerSecond: 100, models: [{ name: "a", loaded: true }] });
  const answers = await Promise.all(
    Array.from(
      { length: 500 },
      (_, i) =>
        chat(engine, { stream: true, max_tokens: 20, messages: [{ role: "user", content: `caller ${i}` }] }).answer,
    ),
  );
  expect(answers.every((answer) => answer.body.endsWith("[DONE]\n\n") && chunks(answer.body).length === 22)).toBe(true);
  expect(new Set(answers.map((answer) => textOf(answer.body))).size).toBe(500);
  expect(engine.stats).toMatchObject({ served: 500, active: 0, queued: 0 });
});
