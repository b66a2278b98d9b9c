import Anthropic, {
  APIError,
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
} from "@anthropic-ai/sdk";
import type { SeenRequest } from "@farmgate/simulator";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cleanup } from "../../harness/farmgate-process.ts";
import { freePorts } from "../../harness/free-ports.ts";
import { startTestEngine, startTestGateway } from "../../harness/gateway-farm.ts";
import { OllamaLike } from "../../harness/ollama-like.ts";
import { until } from "../../harness/until.ts";

const CHAT_ONLY = ["chat", "completions", "embeddings"];
const cleanup = new Cleanup();
afterAll(() => cleanup.run());

/** Never tries again by itself: what a call does is one request. */
function clientOf(url: string, apiKey = "any"): Anthropic {
  return new Anthropic({ baseURL: url, apiKey, maxRetries: 0 });
}

const look: Anthropic.Tool = {
  name: "look",
  description: "Looks at the weather.",
  input_schema: {
    type: "object",
    properties: { city: { type: "string" }, days: { type: "integer" } },
    required: ["city"],
  },
};
const question = { model: "m", max_tokens: 24, messages: [{ role: "user" as const, content: "Who are you?" }] };

function textOf(message: Anthropic.Message): string {
  return message.content.map((block) => (block.type === "text" ? block.text : `<${block.type}>`)).join("");
}

interface Farm {
  client: Anthropic;
  /** What its engine was asked, oldest first. */
  asked: SeenRequest[];
  /** Resolves once its slow engine does nothing any more. */
  isIdle(): Promise<void>;
}
const farms = new Map<string, Farm>();

function farmOf(kind: string): Farm {
  const farm = farms.get(kind);
  if (farm === undefined) throw new Error(`no farm is ${kind}`);
  return farm;
}

async function startFarm(kind: string, apis?: string[]): Promise<void> {
  const asked: SeenRequest[] = [];
  const models = [
    { name: "m", loaded: true },
    { name: "small", loaded: true, contextLength: 64 },
  ];
  const engine = await startTestEngine(cleanup, { models, apis }, (request) => {
    if (request.method === "POST") asked.push(request);
  });
  const slow = await startTestEngine(cleanup, { models: [{ name: "slow", loaded: true }], apis, tokensPerSecond: 20 });
  const { url } = await startTestGateway(cleanup, { engine: engine.url, slow: slow.url });
  const isIdle = () => slow.waitFor(({ active, queued }) => active + queued === 0);
  farms.set(kind, { client: clientOf(url), asked, isIdle });
}

async function refusalOf(call: Promise<unknown>): Promise<InstanceType<typeof APIError>> {
  const error = await call.catch((thrown: unknown) => thrown);
  if (error instanceof APIError) return error;
  throw new Error(`no API error: ${String(error)}`);
}

beforeAll(async () => {
  await startFarm("native");
  await startFarm("translated", CHAT_ONLY);
});

describe.each([
  ["native", "/v1/messages"],
  ["translated", "/v1/chat/completions"],
])("the official SDK over an engine whose messages are %s", (kind, path) => {
  const client = () => farmOf(kind).client;
  const lastAsked = () => farmOf(kind).asked.at(-1);

  it("gets a message", async () => {
    const { data: message, request_id: id, response } = await client().messages.create(question).withResponse();
    expect(message).toMatchObject({ type: "message", role: "assistant", model: "m", stop_reason: "max_tokens" });
    expect(textOf(message).length).toBeGreaterThan(20);
    expect(message.usage.input_tokens + (message.usage.cache_read_input_tokens ?? 0)).toBeGreaterThan(5);
    expect(message.usage.output_tokens).toBe(24);
    expect(id).toBe(response.headers.get("x-request-id"));
    expect(lastAsked()?.url).toBe(path);
  });

  it("gets the same message as a stream", async () => {
    const whole = await client().messages.create(question);
    const stream = client().messages.stream(question);
    const types: string[] = [];
    stream.on("streamEvent", ({ type }) => types.push(type));
    const message = await stream.finalMessage();
    expect(textOf(message)).toBe(textOf(whole));
    expect(message.usage.output_tokens).toBe(24);
    expect(message.stop_reason).toBe("max_tokens");
    expect([types[0], types[1], ...types.slice(-3)]).toEqual([
      "message_start",
      "content_block_start",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
    expect(types.filter((type) => type === "content_block_delta").length).toBeGreaterThan(5);
    expect(stream.request_id).toMatch(/\w/);
  });

  it("gets raw events, by `stream: true`", async () => {
    const names: string[] = [];
    for await (const event of await client().messages.create({ ...question, stream: true })) names.push(event.type);
    expect(names.at(-1)).toBe("message_stop");
  });

  it("calls a tool and answers with its result", async () => {
    const params = { ...question, max_tokens: 200, tools: [look], tool_choice: { type: "any" as const } };
    const first = await client().messages.create(params);
    expect(first.stop_reason).toBe("tool_use");
    const call = first.content.find((block) => block.type === "tool_use");
    expect(call).toMatchObject({ name: "look", input: { city: expect.any(String) as string } });
    const streamed = await client().messages.stream(params).finalMessage();
    expect(streamed.content).toMatchObject([{ type: "tool_use", name: "look", input: call?.input }]);
    expect(streamed.stop_reason).toBe("tool_use");
    const second = await client().messages.create({
      ...question,
      tools: [look],
      system: [{ type: "text", text: "Be brief." }],
      messages: [
        ...question.messages,
        { role: "assistant", content: first.content },
        { role: "user", content: [{ type: "tool_result", tool_use_id: call?.id ?? "", content: "sun" }] },
      ],
    });
    expect(textOf(second).length).toBeGreaterThan(20);
    expect(lastAsked()?.url).toBe(path);
  });

  it("counts tokens as the engine does", async () => {
    const { input_tokens } = await client().messages.countTokens({ model: "m", messages: question.messages });
    const { usage } = await client().messages.create(question);
    expect(input_tokens).toBe(usage.input_tokens + (usage.cache_read_input_tokens ?? 0));
  });

  it("stops at a stop sequence", async () => {
    const whole = textOf(await client().messages.create(question));
    const stop = whole.slice(8, 12);
    const message = await client().messages.create({ ...question, stop_sequences: [stop] });
    expect(textOf(message)).toBe(whole.slice(0, whole.indexOf(stop)));
    expect(message.stop_reason).toBe("end_turn");
  });

  it("leaves a stream, and the engine stops", async () => {
    const stream = client().messages.stream({ ...question, model: "slow", max_tokens: 2_000 });
    await new Promise<void>((resolve) => {
      stream.on("text", () => resolve());
    });
    stream.abort();
    await expect(stream.done()).rejects.toThrow(APIUserAbortError);
    await farmOf(kind).isIdle();
  });

  it("is told of a model that nobody has", async () => {
    const error = await refusalOf(client().messages.create({ ...question, model: "nope" }));
    expect(error).toBeInstanceOf(NotFoundError);
    expect(error).toMatchObject({ status: 404, type: "not_found_error" });
    expect(error.error).toMatchObject({ type: "error", request_id: error.requestID });
  });

  it("is told of a prompt that is too long", async () => {
    const messages = [{ role: "user" as const, content: "long ".repeat(200) }];
    const error = await refusalOf(client().messages.create({ ...question, model: "small", messages }));
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error.message).toContain("exceeds the available context size");
    const streamed = client().messages.stream({ ...question, model: "small", messages });
    await expect(streamed.finalMessage()).rejects.toThrow(BadRequestError);
  });

  it("is told what is wrong with a request", async () => {
    const error = await refusalOf(client().post("/v1/messages", { body: { messages: [] } }));
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error).toMatchObject({ type: "invalid_request_error" });
  });

  it("lists the models", async () => {
    const page = await client().models.list();
    expect(page.data.map(({ id, type }) => [id, type])).toEqual([
      ["m", "model"],
      ["slow", "model"],
      ["small", "model"],
    ]);
    expect([page.has_more, page.first_id, page.last_id]).toEqual([false, "m", "small"]);
    const all: string[] = [];
    for await (const { id } of client().models.list({ limit: 1 })) all.push(id);
    expect(all).toEqual(["m", "slow", "small"]);
    const model = await client().models.retrieve("small");
    expect(model).toMatchObject({ type: "model", id: "small", display_name: "small", max_input_tokens: 64 });
    expect(Date.parse(model.created_at)).toBeGreaterThan(0);
    await expect(client().models.retrieve("nope")).rejects.toThrow(NotFoundError);
  });
});

describe("an engine that speaks messages", () => {
  it("is sent the caller's bytes, version and betas as they are, but no key", async () => {
    const { client, asked } = farmOf("native");
    const body = '{ "messages":[{"role":"user","content":"h\\u00e9 \u00e9"}], "max_tokens":3,"model" :"m"}';
    const headers = { "anthropic-version": "2023-06-01", "anthropic-beta": "some-beta", "x-api-key": "mine" };
    const answer = await fetch(`${client.baseURL}/v1/messages?beta=true`, { method: "POST", headers, body });
    expect(answer.status).toBe(200);
    const { url, headers: sent, body: bytes } = asked.at(-1) ?? {};
    expect([url, String(bytes)]).toEqual(["/v1/messages?beta=true", body]);
    expect(sent).toMatchObject({ "anthropic-version": "2023-06-01", "anthropic-beta": "some-beta" });
    expect(sent).not.toHaveProperty("x-api-key");
  });

  it("is heard in its own words when it refuses, whatever their shape", async () => {
    const messages = [{ role: "user" as const, content: "long ".repeat(200) }];
    const error = await refusalOf(farmOf("native").client.messages.create({ ...question, model: "small", messages }));
    expect(error.error).toMatchObject({ error: { type: "exceed_context_size_error", n_ctx: 64 } });
  });
});

describe("an engine that has chat alone", () => {
  it("is asked with nothing of Anthropic's", async () => {
    const { client, asked } = farmOf("translated");
    await client.beta.messages.create({ ...question, system: "Be brief.", betas: ["some-beta"] });
    const { url, headers, body } = asked.at(-1) ?? {};
    expect(url).toBe("/v1/chat/completions");
    expect(Object.keys(headers ?? {}).filter((name) => /anthropic|stainless|api-key/.test(name))).toEqual([]);
    expect(JSON.parse(String(body))).toMatchObject({
      messages: [{ role: "system", content: "Be brief." }, question.messages[0]],
    });
  });

  it("is heard in Anthropic's shape when it refuses", async () => {
    const messages = [{ role: "user" as const, content: "long ".repeat(200) }];
    const call = farmOf("translated").client.messages.create({ ...question, model: "small", messages });
    expect((await refusalOf(call)).error).toMatchObject({ type: "error", error: { type: "invalid_request_error" } });
  });
});

it("an Ollama that has no messages yet is asked by chat, and is the same farm", async () => {
  const ollama = cleanup.add(await new OllamaLike({ models: ["llama3.2:latest"] }).open(), (server) => server.die());
  const engine = await startTestEngine(cleanup, { models: [{ name: "m", loaded: true }] });
  const { url } = await startTestGateway(cleanup, { ollama: ollama.url, engine: engine.url });
  const client = clientOf(url);
  const asked = { ...question, model: "llama3.2:latest" };
  expect(textOf(await client.messages.create(asked))).toBe("Hello");
  expect(textOf(await client.messages.stream(asked).finalMessage())).toBe("Hello");
  expect(await client.messages.countTokens({ model: asked.model, messages: asked.messages })).toMatchObject({
    input_tokens: 2,
  });
  expect(textOf(await client.messages.create(question)).length).toBeGreaterThan(20);
});

it("keys are taken as x-api-key or Bearer, and a wrong one is told", async () => {
  const engine = await startTestEngine(cleanup, { models: [{ name: "m", loaded: true }] });
  const [port = 0] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const keys = [{ name: "alice", key: "key-of-alice", models: ["*"] }];
  await cleanup.program("gateway", { listen: { port }, keys, workers: [{ name: "engine", url: engine.url }] }, url);
  await until(async () => (await fetch(`${url}/health`)).ok, "the engine is known");
  expect(textOf(await clientOf(url, "key-of-alice").messages.create(question))).toMatch(/\w/);
  const bearer = new Anthropic({ baseURL: url, authToken: "key-of-alice", apiKey: null, maxRetries: 0 });
  expect((await bearer.models.list()).data).toHaveLength(1);
  const wrong = clientOf(url, "wrong");
  for (const call of [() => wrong.messages.create(question), () => wrong.models.list()]) {
    const error = await refusalOf(call());
    expect(error).toBeInstanceOf(AuthenticationError);
    expect(error).toMatchObject({ type: "authentication_error", requestID: expect.stringMatching(/\w/) as string });
  }
});

it("a farm that cannot serve now says so, and after how long to ask again", async () => {
  const engine = await startTestEngine(cleanup, { models: [{ name: "m", loaded: true }] });
  const { url } = await startTestGateway(cleanup, { engine: engine.url });
  await engine.setFail(["503-loading@m"]);
  const error = await refusalOf(clientOf(url).messages.create(question));
  expect(error).toBeInstanceOf(InternalServerError);
  expect(error).toMatchObject({ status: 503, type: "overloaded_error" });
  expect(Number(error.headers?.get("retry-after"))).toBeGreaterThan(0);
});
