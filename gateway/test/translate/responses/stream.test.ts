import { describe, expect, it } from "vitest";
import { responsesToChat } from "../../../src/translate/responses/responses-to-chat.ts";
import { CONTEXT, clientOf, dataOf, tell } from "../../support/translate.ts";
import { recordedBody } from "../recorded-answer.ts";

const recorded = (name: string) => recordedBody(name).body.toString();

function tellStream(stream: string, body: Record<string, unknown> = {}) {
  const translated = responsesToChat({ model: "m", input: "Hi", stream: true, ...body }, CONTEXT);
  return tell("responses", translated, stream);
}

function finalOf(text: string) {
  return clientOf(text).responses.stream({ model: "m", input: "Hi" }).finalResponse();
}

function chunks(...choices: [delta: object, finish?: string][]): string {
  return choices
    .map(([delta, finish]) => ({ choices: [{ index: 0, delta, finish_reason: finish ?? null }] }))
    .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
    .join("");
}

/** Types in their order, those that repeat once. */
function typesOf(text: string): string[] {
  const types = dataOf(text).map((event) => String(event["type"]));
  return types.filter((type, i) => type !== types[i - 1]);
}

describe("what a real llama-server streamed, told as a response", () => {
  it("has the events that its own /v1/responses has, in their order", () => {
    const { text } = tellStream(recorded("single-chat-stream-usage"));
    expect(typesOf(text)).toEqual(typesOf(recorded("single-responses-stream")));
  });

  it("keeps text and usage", async () => {
    const stream = recorded("single-chat-stream-usage");
    const response = await finalOf(tellStream(stream).text);
    const said = dataOf(stream).map((chunk) => (chunk as Chunk).choices?.[0]?.delta.content ?? "");
    expect(response.output_text).toBe(said.join(""));
    expect(response).toMatchObject({
      model: "stories260k",
      status: "completed",
      usage: { input_tokens: 5, input_tokens_details: { cached_tokens: 4 }, output_tokens: 342, total_tokens: 347 },
    });
  });

  it("keeps letters whose bytes came in several tokens", async () => {
    const stream = recorded("qwen-utf8-stream");
    const said = dataOf(stream).map((chunk) => (chunk as Chunk).choices?.[0]?.delta.content ?? "");
    expect((await finalOf(tellStream(stream).text)).output_text).toBe(said.join(""));
  });

  it("makes each tool call an item with all of its arguments", async () => {
    const { output } = await finalOf(tellStream(recorded("tool-call-required-stream")).text);
    expect(output).toMatchObject([
      { type: "function_call", name: "get_weather", call_id: "MyUTaxT1HFYR7qHEx7VvvnD1wQWRyQbl", status: "completed" },
      { type: "function_call", name: "get_weather", call_id: "FJBJ1ZCfErlSIk2uF4W0R4beh9CYsNUg", status: "completed" },
    ]);
    const calls = output.flatMap((item) =>
      item.type === "function_call" ? [JSON.parse(item.arguments) as object] : [],
    );
    expect(calls.map((call) => Object.keys(call))).toEqual([
      ["city", "n"],
      ["city", "n"],
    ]);
  });

  it.each(["sigterm-midstream", "router-child-killed-midstream"])("is not whole after %s", (name) => {
    const { text, problem } = tellStream(recorded(name));
    expect(problem).toMatch(/ended before/);
    expect(text).toContain("response.output_text.delta");
    expect(text).not.toContain("response.completed");
  });
});

describe("odd chat streams told as a response", () => {
  it("ends with a finish reason alone, without [DONE]", async () => {
    const { text, problem } = tellStream(chunks([{ content: "Hello" }], [{}, "stop"]));
    expect(problem).toBeNull();
    expect((await finalOf(text)).output_text).toBe("Hello");
  });

  it("ends with [DONE] alone, without a finish reason", async () => {
    const { text } = tellStream(`${chunks([{ content: "Hello" }])}data: [DONE]\n\n`);
    expect((await finalOf(text)).status).toBe("completed");
  });

  it("is incomplete when the model ran out of tokens", async () => {
    const { text } = tellStream(chunks([{ content: "Hel" }, "length"]));
    const response = await finalOf(text);
    expect(response).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
      output: [{ type: "message", status: "incomplete" }],
    });
  });

  it.each([
    ["the same index", 0],
    ["no index", undefined],
  ])("keeps calls apart that have %s", async (_, index) => {
    const call = (id: string, name: string) => ({
      tool_calls: [{ index, id, function: { name, arguments: `{"a":` } }],
    });
    const rest = { tool_calls: [{ index, function: { arguments: "1}" } }] };
    const { text } = tellStream(chunks([call("one", "f")], [rest], [call("two", "g")], [rest], [{}, "tool_calls"]));
    expect((await finalOf(text)).output).toMatchObject([
      { call_id: "one", name: "f", arguments: '{"a":1}' },
      { call_id: "two", name: "g", arguments: '{"a":1}' },
    ]);
  });

  it("takes a call as one whose pieces all repeat its id and its name", async () => {
    const piece = (text: string) => ({ tool_calls: [{ id: "one", function: { name: "f", arguments: text } }] });
    const { text } = tellStream(chunks([piece('{"a":')], [piece("1}")], [{}, "tool_calls"]));
    expect((await finalOf(text)).output).toMatchObject([{ call_id: "one", name: "f", arguments: '{"a":1}' }]);
  });

  it("puts pieces of calls that come in turns where they belong", async () => {
    const piece = (index: number, text: string, more: object = {}) => ({
      tool_calls: [{ index, function: { arguments: text, ...more }, ...(text === "{" ? { id: `c${index}` } : {}) }],
    });
    const opened = (index: number) => piece(index, "{", { name: "f" });
    const { text } = tellStream(
      chunks([opened(0)], [opened(1)], [piece(0, "}")], [piece(1, " }")], [{}, "tool_calls"]),
    );
    expect((await finalOf(text)).output).toMatchObject([{ arguments: "{}" }, { arguments: "{ }" }]);
  });

  it("gives a custom tool the text that the model wrote for it", async () => {
    const tools = [{ type: "custom", name: "patch" }];
    const call = { id: "c", function: { name: "patch", arguments: '{"input":"one\\ntwo"}' } };
    const { text } = tellStream(chunks([{ tool_calls: [{ index: 0, ...call }] }, "tool_calls"]), { tools });
    const response = await finalOf(text);
    expect(response.output).toMatchObject([
      { type: "custom_tool_call", name: "patch", input: "one\ntwo", call_id: "c" },
    ]);
  });

  it("names the namespace of a called tool apart", async () => {
    const tools = [{ type: "namespace", name: "crm", description: "", tools: [{ type: "function", name: "find" }] }];
    const call = { id: "c", function: { name: "crm__find", arguments: "{}" } };
    const { text } = tellStream(chunks([{ tool_calls: [{ index: 0, ...call }] }, "tool_calls"]), { tools });
    const response = await finalOf(text);
    expect(response.output).toMatchObject([{ type: "function_call", name: "find", namespace: "crm", call_id: "c" }]);
  });

  it.each([
    ["an error", 'data: {"error":{"message":"out of memory","code":500}}\n\n', /out of memory/],
    ["what is no JSON", "data: proxy error\n\n", /no JSON/],
  ])("is broken off by %s inside of it", (_, event, problem) => {
    const told = tellStream(chunks([{ content: "Hel" }]) + event + chunks([{ content: "lo" }, "stop"]));
    expect(told.problem).toMatch(problem);
    expect(told.text).not.toMatch(/response\.completed|"delta":"lo"/);
  });
});

interface Chunk {
  choices?: { delta: { content?: string | null } }[];
}
