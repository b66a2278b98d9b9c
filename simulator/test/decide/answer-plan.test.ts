import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type AnswerPlan, type Body, planAnswer, type TextApi } from "../../src/decide/answer-plan.ts";
import { engineOptionsSchema } from "../../src/decide/options.ts";

const [chat, small, embedding] = engineOptionsSchema.parse({
  models: ["chat", { name: "small", contextLength: 64 }, { name: "emb", kind: "embedding" }],
}).models;

function planned(body: Body, api: TextApi = "chat", model = chat): AnswerPlan {
  const plan = model === undefined ? null : planAnswer(api, body, model);
  if (plan === null || !("pieces" in plan)) throw new Error(`no answer: ${JSON.stringify(plan)}`);
  return plan;
}
const textOf = (body: Body, api: TextApi = "chat", model = chat) => planned(body, api, model).pieces.join("");
const hello: Body = { messages: [{ role: "user", content: "hello" }] };

test("the same request always has the same answer", () => {
  fc.assert(
    fc.property(fc.string(), fc.option(fc.nat(300)), fc.option(fc.integer()), (content, tokens, seed) => {
      const body = { messages: [{ role: "user", content }], max_tokens: tokens ?? undefined, seed: seed ?? undefined };
      expect(planned(structuredClone(body))).toEqual(planned(body));
    }),
  );
});

test("another model, prompt or seed has another answer; another length only another end", () => {
  const text = textOf(hello);
  expect(textOf(hello, "chat", small)).not.toBe(text);
  expect(textOf({ ...hello, seed: 2 })).not.toBe(text);
  expect(textOf({ messages: [{ role: "user", content: "hello!" }] })).not.toBe(text);
  const long = textOf({ ...hello, max_tokens: 300 });
  expect(long.startsWith(textOf({ ...hello, max_tokens: 10 }))).toBe(true);
});

test("max_tokens gives exactly that many tokens, and none 20 to 80", () => {
  fc.assert(
    fc.property(fc.nat(500), fc.string(), (max, content) => {
      const messages = [{ role: "user", content }];
      expect(planned({ messages, max_tokens: max }).pieces).toHaveLength(max);
      const free = planned({ messages });
      expect(free.pieces.length).toBeGreaterThanOrEqual(20);
      expect(free.pieces.length).toBeLessThanOrEqual(80);
      expect(free.finish).toBe("stop");
    }),
  );
  expect(planned({ ...hello, max_tokens: 5 }).finish).toBe("length");
  expect(planned({ ...hello, max_completion_tokens: 5 }).pieces).toHaveLength(5);
});

test("a stop text ends the answer before it, wherever the tokens are cut", () => {
  const text = textOf({ ...hello, max_tokens: 100 });
  for (const at of [1, 7, 30, 90]) {
    const stop = text.slice(at, at + 6);
    const plan = planned({ ...hello, max_tokens: 100, stop: ["never there", stop] });
    expect(plan.pieces.join("")).toBe(text.slice(0, text.indexOf(stop)));
    expect(plan.finish).toBe("stop");
  }
});

test("a prompt that fills the context is refused with the numbers", () => {
  const body = { messages: [{ role: "user", content: "x".repeat(400) }] };
  const refused = small === undefined ? null : planAnswer("chat", body, small);
  expect(refused).toMatchObject({ status: 400, type: "exceed_context_size_error", extra: { n_ctx: 64 } });
});

test("an answer never outgrows the context", () => {
  const plan = planned({ ...hello, max_tokens: 1_000 }, "chat", small);
  expect(plan.promptTokens + plan.pieces.length).toBe(64);
});

test("a model that cannot chat says so, and so does a request without messages", () => {
  expect(embedding && planAnswer("chat", hello, embedding)).toMatchObject({ status: 500 });
  expect(chat && planAnswer("chat", {}, chat)).toMatchObject({ status: 400, message: "'messages' is required" });
  expect(chat && planAnswer("completions", {}, chat)).toMatchObject({ status: 400 });
});

test("every turn of a conversation extends the prompt of the one before", () => {
  const first = planned(hello);
  const answered = { role: "assistant", content: first.pieces.join("") };
  const second = planned({
    messages: [{ role: "user", content: "hello" }, answered, { role: "user", content: "and?" }],
  });
  expect(second.prompt.startsWith(first.prompt + first.pieces.join(""))).toBe(true);
});

test("a picture counts as a few tokens, and another picture has another answer", () => {
  const withImage = (data: string) => ({
    messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: data } }] }],
  });
  const plan = planned(withImage(`data:image/png;base64,${"A".repeat(100_000)}`));
  expect(plan.promptTokens).toBeLessThan(50);
  expect(textOf(withImage("data:a"))).not.toBe(textOf(withImage("data:b")));
});

const weather = {
  name: "get_weather",
  parameters: { type: "object", properties: { city: { type: "string" }, n: { type: "integer" } }, required: ["city"] },
};
const other = { name: "other", parameters: { type: "object" } };
const tools = [weather, other].map((fn) => ({ type: "function", function: fn }));

test("a demanded tool is called with arguments that fit its schema", () => {
  const plan = planned({ ...hello, tools, tool_choice: "required" });
  expect(plan).toMatchObject({ tool: "get_weather", finish: "tool_calls" });
  expect(JSON.parse(plan.pieces.join(""))).toEqual({ city: expect.any(String), n: expect.any(Number) });
  expect(planned({ ...hello, tools, tool_choice: { type: "function", function: { name: "other" } } }).tool).toBe(
    "other",
  );
});

test("an offered tool is not called unless demanded", () => {
  expect(planned({ ...hello, tools, tool_choice: "auto" }).tool).toBeNull();
  expect(planned({ ...hello, tools }).tool).toBeNull();
  expect(planned({ ...hello, tool_choice: "required" }).tool).toBeNull();
});

test("the Anthropic way of demanding a tool works too", () => {
  const offered = [{ name: "get_weather", input_schema: weather.parameters }];
  const body = { ...hello, max_tokens: 200, tools: offered, tool_choice: { type: "any" } };
  expect(planned(body, "messages")).toMatchObject({ tool: "get_weather" });
});

test("a structured answer fits its schema", () => {
  const schema = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };
  const plan = planned({ ...hello, response_format: { type: "json_schema", json_schema: { schema } } });
  expect(JSON.parse(plan.pieces.join(""))).toEqual({ ok: expect.any(Boolean) });
});
