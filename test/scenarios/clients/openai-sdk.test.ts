import OpenAI, { APIUserAbortError, InternalServerError } from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cleanup } from "../../harness/farmgate-process.ts";
import { MODELS, startMixedFarm } from "../../harness/mixed-farm.ts";
import { nothingUnderWay } from "../../harness/under-way.ts";
import { until } from "../../harness/until.ts";

const cleanup = new Cleanup();
let farm: Awaited<ReturnType<typeof startMixedFarm>>;
let client: OpenAI;

beforeAll(async () => {
  farm = await startMixedFarm(cleanup);
  client = new OpenAI({ baseURL: `${farm.url}/v1`, apiKey: "none" });
});
afterAll(() => cleanup.run());

const CHATTING = [MODELS.native, MODELS.chatOnly, MODELS.ollama];
const messages = [{ role: "user" as const, content: "Hello" }];
const PARAMETERS = { type: "object", properties: { city: { type: "string", maxLength: 8 } }, required: ["city"] };
const TOOL = { type: "function" as const, function: { name: "get_weather", parameters: PARAMETERS } };

describe.each(CHATTING)("OpenAI's client with %s", (model) => {
  it("chats", async () => {
    const completion = await client.chat.completions.create({ model, messages, max_tokens: 5 });
    expect(completion).toMatchObject({ object: "chat.completion", model });
    expect(completion.choices[0]?.message.content).toMatch(/\S/);
    expect(completion.choices[0]?.finish_reason).toMatch(/^(stop|length)$/);
    expect(completion.usage?.total_tokens).toBeGreaterThan(0);
    expect(completion).toHaveProperty("_request_id", expect.stringMatching(/^req_/));
  });

  it("streams the same, with usage when asked", async () => {
    const whole = await client.chat.completions.create({ model, messages, max_tokens: 5 });
    const options = { stream: true, stream_options: { include_usage: true } } as const;
    let text = "";
    let finish: string | null = null;
    let usage = null;
    const stream = await client.chat.completions.create({ model, messages, max_tokens: 5, ...options });
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? "";
      finish = chunk.choices[0]?.finish_reason ?? finish;
      usage = chunk.usage ?? usage;
    }
    expect(text).toBe(whole.choices[0]?.message.content);
    expect(finish).toBe(whole.choices[0]?.finish_reason);
    expect(usage).toMatchObject({ total_tokens: expect.any(Number) as number });
  });

  it("calls a tool and takes its result", async () => {
    const request = { model, messages, tool_choice: "required" as const, tools: [TOOL] };
    const asked = await client.chat.completions.stream(request).finalChatCompletion();
    expect(asked.choices[0]?.finish_reason).toBe("tool_calls");
    const [message] = asked.choices.map((one) => one.message);
    const [call] = message?.tool_calls ?? [];
    if (message === undefined || call?.type !== "function") throw new Error("no tool was called");
    expect(call.function.name).toBe("get_weather");
    expect(JSON.parse(call.function.arguments)).toHaveProperty("city");
    const turn = { role: "assistant" as const, content: null, tool_calls: [call] };
    const result = { role: "tool" as const, tool_call_id: call.id, content: "rain" };
    const after = { model, messages: [...messages, turn, result], max_tokens: 5, tools: [TOOL] };
    expect((await client.chat.completions.create(after)).choices[0]?.message.content).toMatch(/\S/);
  });

  it("leaves in the middle of a stream", async () => {
    const slow = model === MODELS.ollama ? [{ role: "user" as const, content: "count" }] : messages;
    const stream = await client.chat.completions.create({ model, messages: slow, max_tokens: 500, stream: true });
    let pieces = 0;
    for await (const _ of stream) {
      pieces += 1;
      break;
    }
    expect(pieces).toBe(1);
    await nothingUnderWay(farm.url);
  });
});

describe("a stream whose caller leaves", () => {
  it("ends at a translated worker too", async () => {
    const before = farm.ollama.left;
    const count = { model: MODELS.ollama, messages: [{ role: "user" as const, content: "count" }] };
    const stream = client.chat.completions.stream(count);
    const gone = stream.done().catch((error: unknown) => error);
    stream.once("content", () => stream.abort());
    expect(await gone).toBeInstanceOf(APIUserAbortError);
    await until(() => farm.ollama.left > before, "the worker sees it");
  });
});

describe.each(CHATTING)("OpenAI's responses with %s", (model) => {
  it("answers with text", async () => {
    const response = await client.responses.create({ model, input: "Hello", instructions: "Be short." });
    expect(response).toMatchObject({ object: "response", status: "completed", model });
    expect(response.output_text).toMatch(/\S/);
    expect(response.usage?.output_tokens).toBeGreaterThan(0);
  });

  it("streams text", async () => {
    let text = "";
    let last = "";
    for await (const event of await client.responses.create({ model, input: "Hello", stream: true })) {
      if (event.type === "response.output_text.delta") text += event.delta;
      last = event.type;
    }
    expect(text).toBe((await client.responses.create({ model, input: "Hello" })).output_text);
    expect(last).toBe("response.completed");
  });
});

describe.each([MODELS.chatOnly, MODELS.ollama])("OpenAI's responses, translated for %s", (model) => {
  it("calls a function and takes its result", async () => {
    const tools = [{ type: "function" as const, name: "get_weather", parameters: PARAMETERS, strict: false }];
    const input = [{ role: "user" as const, content: "Weather?" }];
    const stream = client.responses.stream({ model, input, tools, tool_choice: "required" });
    const [call] = (await stream.finalResponse()).output;
    if (call?.type !== "function_call") throw new Error("no function was called");
    expect(JSON.parse(call.arguments)).toHaveProperty("city");
    const { type, call_id, name, arguments: given } = call;
    const result = { type: "function_call_output" as const, call_id, output: "rain" };
    const next = await client.responses.create({
      model,
      input: [...input, { type, call_id, name, arguments: given }, result],
      tools,
    });
    expect(next.output_text).toMatch(/\S/);
  });
});

describe("OpenAI's responses over a worker with chat alone", () => {
  const model = MODELS.chatOnly;

  it("fits an answer to a schema", async () => {
    const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
    const text = { format: { type: "json_schema" as const, name: "answer", schema } };
    const response = await client.responses.parse({ model, input: "How many?", text });
    expect(response.output_parsed).toHaveProperty("n");
  });

  it("says that it keeps no answers, and the client does not ask again", async () => {
    const request = { model, input: "Hello", previous_response_id: "resp_1" };
    const error: unknown = await client.responses.create(request).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(InternalServerError);
    expect(error).toMatchObject({ status: 501, code: "not_supported", param: "previous_response_id" });
  });
});

describe("OpenAI's other calls", () => {
  it("lists models and finds one, with a tag or a slash in its name", async () => {
    const ids: string[] = [];
    for await (const model of client.models.list()) ids.push(model.id);
    expect(ids).toEqual(expect.arrayContaining([MODELS.native, MODELS.chatOnly, "llama3.2", MODELS.embedding]));
    expect(await client.models.retrieve(MODELS.ollama)).toMatchObject({ id: "llama3.2", object: "model" });
  });

  it.each([MODELS.native, MODELS.ollama])("completes a prompt with %s, whole and as a stream", async (model) => {
    const whole = await client.completions.create({ model, prompt: "Once", max_tokens: 4 });
    let text = "";
    for await (const chunk of await client.completions.create({ model, prompt: "Once", max_tokens: 4, stream: true })) {
      text += chunk.choices[0]?.text ?? "";
    }
    expect(whole.choices[0]?.text).toMatch(/\S/);
    expect(text).toBe(whole.choices[0]?.text);
  });

  it.each([MODELS.embedding, MODELS.ollama])("embeds with %s, packed as the client asks by itself", async (model) => {
    const input = ["one", "three"];
    const packed = await client.embeddings.create({ model, input });
    const plain = await client.embeddings.create({ model, input, encoding_format: "float" });
    expect(packed.data.map(({ index }) => index)).toEqual([0, 1]);
    const rounded = plain.data.map(({ embedding }) => embedding.map(Math.fround));
    expect(packed.data.map(({ embedding }) => [...embedding].map(Math.fround))).toEqual(rounded);
    expect(packed.usage.prompt_tokens).toBeGreaterThan(0);
  });
});
