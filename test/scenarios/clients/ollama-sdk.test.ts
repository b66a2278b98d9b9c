import { Ollama, type ChatResponse, type Tool } from "ollama";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { getJson } from "../../harness/ask.ts";
import { Cleanup } from "../../harness/farmgate-process.ts";
import { startTestEngine, startTestGateway } from "../../harness/gateway-farm.ts";
import { OllamaLike } from "../../harness/ollama-like.ts";
import { startReplayEngine } from "../../harness/replay-engine.ts";
import { until } from "../../harness/until.ts";

/*
 * The official `ollama` package over a farm of mixed engines:
 * `own` answers as Ollama does, `old` as an Ollama did before it had `/v1` and `/api/embed`, `llama` is a simulated
 * llama-server, `small` a simulated engine with three APIs, `tools` one that replays what a real llama-server said.
 */
const cleanup = new Cleanup();
let own: OllamaLike;
let old: OllamaLike;
let tools: Awaited<ReturnType<typeof startReplayEngine>>;
let url = "";
let client: Ollama;

beforeAll(async () => {
  own = cleanup.add(
    await new OllamaLike({
      models: [
        { name: "llama3.2", can: ["tools", "thinking"] },
        { name: "all-minilm", kind: "embedding" },
      ],
    }).open(),
    (server) => server.die(),
  );
  old = cleanup.add(await new OllamaLike({ models: ["llama2"], lacks: ["/v1/", "/api/embed"] }).open(), (server) =>
    server.die(),
  );
  const llama = await startTestEngine(cleanup, {
    models: [
      { name: "qwen3-4b", loaded: true },
      { name: "big-embedder", kind: "embedding" },
    ],
    tokensPerSecond: 200,
  });
  const small = await startTestEngine(cleanup, {
    models: [{ name: "mini" }, { name: "mini-embedder", kind: "embedding" }],
    apis: ["chat", "completions", "embeddings"],
  });
  tools = await startReplayEngine(cleanup, "caller", "tool-call-required");
  const workers = { own: own.url, old: old.url, llama: llama.url, small: small.url, tools: tools.url };
  ({ url } = await startTestGateway(cleanup, workers, { models: { aliases: { fast: "qwen3-4b" } } }));
  client = new Ollama({ host: url });
});
afterAll(() => cleanup.run());

/** The models for talk, of every kind of engine. */
const TALKERS = ["llama3.2", "LLAMA3.2:latest", "llama2", "qwen3-4b", "fast", "mini"];
const EMBEDDERS = ["all-minilm", "big-embedder", "mini-embedder"];

const weather: Tool = {
  type: "function",
  function: {
    name: "get_weather",
    description: "The weather of a city",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};

async function gathered<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const parts: T[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

const nothingRuns = () =>
  until(async () => (await getJson<{ requests: object[] }>(`${url}/farm/requests`)).requests.length === 0, "all ended");

describe("the `ollama` package", () => {
  it("lists, shows and tells the release", async () => {
    const { models } = await client.list();
    const names = models.map(({ name }) => name);
    for (const name of ["llama3.2", "llama2", "qwen3-4b", "fast", "mini", "caller", ...EMBEDDERS]) {
      expect(names).toContain(`${name}:latest`);
    }
    expect((await client.version()).version).toMatch(/^0\.\d+\.\d+$/);
    expect((await client.show({ model: "llama3.2" })).capabilities).toEqual(["completion", "tools", "thinking"]);
    expect((await client.show({ model: "mini-embedder" })).capabilities).toEqual(["embedding"]);
    expect(await client.show({ model: "qwen3-4b" })).toMatchObject({
      details: { parameter_size: "4B" },
      model_info: { "general.architecture": "qwen3", "qwen3.context_length": 131_072 },
    });
  });

  it("tells what runs", async () => {
    await client.chat({ model: "llama3.2", messages: [{ role: "user", content: "Hi" }] });
    await until(async () => (await client.ps()).models.some(({ name }) => name === "llama3.2:latest"), "llama3.2 runs");
    const running = (await client.ps()).models.find(({ name }) => name === "qwen3-4b:latest");
    expect(running).toMatchObject({ size_vram: expect.any(Number), expires_at: expect.any(String) });
  });

  it.each(TALKERS)("chats with %s, whole and in a stream", async (model) => {
    const messages = [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hi" },
    ];
    const options = { seed: 7 };
    const whole = await client.chat({ model, messages, options });
    expect(whole).toMatchObject({ done: true, done_reason: "stop", message: { role: "assistant" } });
    expect(whole.message.content.length).toBeGreaterThan(0);
    expect(whole.eval_count).toBeGreaterThan(0);
    expect(whole.total_duration).toBeGreaterThan(0);
    const parts: ChatResponse[] = await gathered(await client.chat({ model, messages, options, stream: true }));
    expect(parts.map((part) => part.message.content).join("")).toBe(whole.message.content);
    expect(parts.length).toBeGreaterThan(2);
    expect(parts.at(-1)).toMatchObject({ done: true, done_reason: "stop", eval_count: whole.eval_count });
    expect(parts.at(-1)?.prompt_eval_count).toBe(whole.prompt_eval_count);
  });

  it.each(TALKERS)("generates with %s, whole and in a stream, to a length and in a form", async (model) => {
    const asked = { model, prompt: "Tell me.", system: "Be brief.", options: { num_predict: 5 } };
    const whole = await client.generate(asked);
    expect(whole).toMatchObject({ done: true, done_reason: "length", eval_count: 5 });
    const parts = await gathered(await client.generate({ ...asked, stream: true }));
    expect(parts.map((part) => part.response).join("")).toBe(whole.response);
    const format = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };
    const formed = await client.generate({ model, prompt: "Tell me.", format });
    expect(JSON.parse(formed.response ?? "")).toMatchObject({ ok: expect.any(Boolean) });
  });

  it("completes a raw prompt with an engine that chats by template", async () => {
    for (const model of ["qwen3-4b", "mini", "llama3.2"]) {
      const answer = await client.generate({ model, prompt: "Once", raw: true, options: { num_predict: 4 } });
      expect(answer).toMatchObject({ done: true, done_reason: "length", eval_count: 4 });
    }
  });

  it("loads a model by an empty request", async () => {
    for (const model of ["llama3.2", "qwen3-4b", "mini"]) {
      expect(await client.generate({ model, prompt: "" })).toMatchObject({ done: true, done_reason: "load" });
      expect(await client.chat({ model })).toMatchObject({ done: true, done_reason: "load" });
    }
    await expect(client.generate({ model: "qwen3-4b", prompt: "", keep_alive: 0 })).rejects.toMatchObject({
      status_code: 501,
    });
  });

  it.each(EMBEDDERS)("embeds with %s, one text and more, by the newer way and the older", async (model) => {
    const one = await client.embed({ model, input: "a" });
    const two = await client.embed({ model, input: ["a", "b"] });
    expect(one.embeddings).toHaveLength(1);
    expect(two.embeddings).toHaveLength(2);
    expect(two.embeddings[0]).toEqual(one.embeddings[0]);
    expect(two.embeddings[1]).not.toEqual(one.embeddings[0]);
    expect(two.prompt_eval_count).toBeGreaterThan(0);
    const { embedding } = await client.embeddings({ model, prompt: "a" });
    expect(embedding).toHaveLength(one.embeddings[0]?.length ?? 0);
  });

  it("calls tools of an Ollama, and hands their results back", async () => {
    const messages = [{ role: "user", content: "What is the weather in Paris?" }];
    const { message } = await client.chat({ model: "llama3.2", messages, tools: [weather] });
    expect(message.tool_calls).toMatchObject([{ function: { name: "get_weather", arguments: { city: "Paris" } } }]);
    const result = { role: "tool", content: "sunny", tool_name: "get_weather" };
    const answer = await client.chat({ model: "llama3.2", messages: [...messages, message, result], tools: [weather] });
    expect(answer.message.content).toBe("Hello");
  });

  it("calls tools of a llama-server, whole and in a stream, and hands their results back", async () => {
    const messages = [{ role: "user", content: "hi" }];
    const { message } = await client.chat({ model: "caller", messages, tools: [weather] });
    expect(message.tool_calls).toMatchObject([
      { function: { name: "get_weather" } },
      { function: { name: "get_weather" } },
    ]);
    const parts = await gathered(await client.chat({ model: "caller", messages, tools: [weather], stream: true }));
    expect(parts.flatMap((part) => part.message.tool_calls ?? [])).toMatchObject([
      { function: { name: "get_weather", arguments: { city: ">& abrir", n: 7 } } },
      { function: { name: "get_weather", arguments: { n: 1 } } },
    ]);
    const results = (message.tool_calls ?? []).map(() => ({ role: "tool", content: "7", tool_name: "get_weather" }));
    await client.chat({ model: "caller", messages: [...messages, message, ...results], tools: [weather] });
    const sent = tools.asked.at(-1)?.["messages"] as { tool_calls?: { id: string }[]; tool_call_id?: string }[];
    expect(sent.slice(2).map((one) => one.tool_call_id)).toEqual(sent[1]?.tool_calls?.map(({ id }) => id));
  });

  it("shows an Ollama's thoughts", async () => {
    const asked = { model: "llama3.2", messages: [{ role: "user", content: "Hi" }], think: true };
    expect((await client.chat(asked)).message.thinking).toBe("Hm, yes.");
    const parts = await gathered(await client.chat({ ...asked, stream: true }));
    expect(parts.map((part) => part.message.thinking ?? "").join("")).toBe("Hm, yes.");
  });

  it("sends pictures", async () => {
    const picture = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
    const messages = [{ role: "user", content: "What is this?", images: [picture] }];
    await client.chat({ model: "caller", messages });
    expect(tools.asked.at(-1)?.["messages"]).toMatchObject([
      { content: [{ type: "text" }, { image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } }] },
    ]);
  });

  it.each(["llama3.2", "qwen3-4b"])("leaves a stream of %s in the middle, and the engine is free", async (model) => {
    const messages = [{ role: "user", content: "Tell me a long story." }];
    const stream = await client.chat({ model, messages, stream: true, options: { num_predict: 2_000 } });
    let parts = 0;
    const read = async () => {
      for await (const part of stream) {
        parts += part.message.content === "" ? 0 : 1;
        if (parts === 3) stream.abort();
      }
    };
    await expect(read()).rejects.toMatchObject({ name: "AbortError" });
    expect(parts).toBeLessThan(2_000);
    await nothingRuns();
  });

  it.each(["llama3.2", "qwen3-4b"])("is told an error that is its own, of %s", async (model) => {
    await expect(
      client.chat({ model: `no-${model}`, messages: [{ role: "user", content: "Hi" }] }),
    ).rejects.toMatchObject({
      name: "ResponseError",
      status_code: 404,
      message: expect.stringContaining("not found"),
    });
    await expect(client.show({ model: `no-${model}` })).rejects.toMatchObject({ status_code: 404 });
    await expect(client.pull({ model })).rejects.toMatchObject({
      status_code: 501,
      message: expect.stringContaining('"own"'),
    });
    await expect(client.delete({ model })).rejects.toMatchObject({ status_code: 501 });
  });

  it("is told of a bad request by who refuses it", async () => {
    const format = "yaml";
    await expect(client.generate({ model: "mini", prompt: "Hi", format })).rejects.toMatchObject({ status_code: 400 });
    const long = "word ".repeat(200_000);
    await expect(client.generate({ model: "mini", prompt: long })).rejects.toMatchObject({
      status_code: 400,
      message: expect.stringContaining("exceeds the available context size"),
    });
    await expect(
      client.chat({ model: "all-minilm", messages: [{ role: "user", content: "Hi" }] }),
    ).rejects.toMatchObject({
      message: expect.any(String),
    });
  });

  it("passes an Ollama's bytes on as they are, and a request with the worker's own spelling", async () => {
    const body =
      '{"messages" : [{"role":"user","content":"H\\u00e9"}] ,"stream": false, "model":"LLAMA3.2",  "x":1.50}';
    const headers = { "content-type": "application/json" };
    const [farm, direct] = await Promise.all(
      [url, own.url].map(async (address) => {
        const answer = await fetch(`${address}/api/chat`, { method: "POST", body, headers });
        return { text: await answer.text(), type: answer.headers.get("content-type") };
      }),
    );
    expect(farm).toEqual(direct);
    expect(own.asked.map((asked) => asked.body)).toContain(body.replace("LLAMA3.2", "llama3.2:latest"));
    const streamed = body.replace(' ,"stream": false', "");
    const [farmStream, directStream] = await Promise.all(
      [url, own.url].map(async (address) =>
        (await fetch(`${address}/api/chat`, { method: "POST", body: streamed, headers })).text(),
      ),
    );
    expect(farmStream).toBe(directStream);
  });
});
