import { expect, test } from "vitest";
import type { RunningEngine, SeenRequest } from "../../src/index.ts";
import { ask, chat, engineWith, get, post } from "./ask.ts";

interface Listed {
  id: string;
  status: { value: string; failed?: boolean; exit_code?: number };
}
async function list(engine: RunningEngine): Promise<Listed[]> {
  return (JSON.parse((await get(engine, "/v1/models")).body) as { data: Listed[] }).data;
}
const states = async (engine: RunningEngine) => (await list(engine)).map(({ id, status }) => `${id} ${status.value}`);

test("the list is a router's, and says that it is simulated", async () => {
  const engine = await engineWith({ models: [{ name: "a", loaded: true, aliases: ["x"], contextLength: 4_096 }, "b"] });
  const { status, headers, body } = await get(engine, "/v1/models");
  expect(status).toBe(200);
  expect(headers).toMatchObject({ server: "llama.cpp", "content-type": "application/json; charset=utf-8" });
  expect(JSON.parse(body)).toMatchObject({
    object: "list",
    data: [
      {
        id: "a",
        owned_by: "llamacpp",
        aliases: ["x"],
        status: { value: "loaded" },
        meta: { n_ctx: 4_096, simulated: true },
      },
      { id: "b", owned_by: "llamacpp", aliases: [], status: { value: "unloaded" }, meta: { simulated: true } },
    ],
  });
  expect(JSON.parse((await get(engine, "/props")).body)).toMatchObject({ role: "router", build_info: "simulated" });
  expect((await get(engine, "/health")).body).toBe('{"status":"ok"}');
});

test("20 first requests at once cause one load", async () => {
  const engine = await engineWith({ load: "200ms" });
  const answers = await Promise.all(Array.from({ length: 20 }, () => chat(engine).answer));
  expect(answers.map((answer) => answer.status)).toEqual(Array.from({ length: 20 }, () => 200));
  expect(engine.stats).toMatchObject({ loads: 1, served: 20 });
});

test("no more than its slots are served at once, the others wait", async () => {
  const engine = await engineWith({ slots: 3, tokensPerSecond: 100, models: [{ name: "a", loaded: true }] });
  let most = 0;
  const asked = Array.from({ length: 12 }, () => chat(engine).answer);
  await engine.waitFor((stats) => {
    most = Math.max(most, stats.active);
    return stats.served === 12;
  });
  await Promise.all(asked);
  expect(most).toBe(3);
});

test("an alias reaches its model, which answers under its own name", async () => {
  const engine = await engineWith({ models: [{ name: "a", aliases: ["fast"] }] });
  expect(JSON.parse((await chat(engine, { model: "fast" }).answer).body).model).toBe("a");
});

test("loads and unloads by hand answer at once", async () => {
  const engine = await engineWith({ load: "150ms" });
  expect((await post(engine, "/models/load", { model: "a" })).body).toBe('{"success":true}');
  expect(await states(engine)).toEqual(["a loading", "b unloaded", "c unloaded"]);
  expect(await post(engine, "/models/load", { model: "a" })).toMatchObject({ status: 400 });
  await engine.waitFor(() => engine.loadedModels().includes("a"));
  expect(await states(engine)).toEqual(["a loaded", "b unloaded", "c unloaded"]);
  expect((await post(engine, "/models/unload", { model: "a" })).status).toBe(200);
  expect(await states(engine)).toEqual(["a unloaded", "b unloaded", "c unloaded"]);
  expect((await post(engine, "/models/unload", { model: "a" })).status).toBe(400);
  expect((await post(engine, "/models/load", { model: "zzz" })).status).toBe(404);
});

test("over the limit the least recently used model leaves", async () => {
  const engine = await engineWith({ maxLoaded: 2 });
  for (const model of ["a", "b", "a", "c"]) await chat(engine, { model }).answer;
  expect(await states(engine)).toEqual(["a loaded", "b unloaded", "c loaded"]);
  expect(engine.stats).toMatchObject({ loads: 3, unloads: 1 });
});

test("autoload can be off, for the engine and for one request", async () => {
  const engine = await engineWith({ autoload: false });
  const refused = await chat(engine).answer;
  expect(refused).toMatchObject({ status: 400 });
  expect(refused.body).toContain("model is not loaded");
  const body = { model: "a", prompt: "x" };
  expect((await post(engine, "/v1/completions?autoload=true", body)).status).toBe(200);
});

test("errors are worded as llama-server words them", async () => {
  const engine = await engineWith();
  const error = async (answer: Promise<{ status: number; body: string }>) => {
    const { status, body } = await answer;
    return [status, (JSON.parse(body) as { error: object }).error];
  };
  const of = (code: number, type: string, message: string) => [code, { code, type, message }];
  expect(await error(chat(engine, { model: "nope" }).answer)).toEqual(
    of(400, "invalid_request_error", "model 'nope' not found"),
  );
  expect(await error(chat(engine, { model: undefined }).answer)).toEqual(
    of(400, "invalid_request_error", "model name is missing from the request"),
  );
  expect(await error(post(engine, "/v1/chat/completions", '{"messages": ['))).toMatchObject([
    500,
    { type: "server_error", message: expect.stringContaining("parse error") },
  ]);
  expect(await error(get(engine, "/nowhere"))).toEqual(of(404, "not_found_error", "File Not Found"));
  expect(await error(get(engine, "/v1/chat/completions"))).toEqual(of(404, "not_found_error", "File Not Found"));
  expect(await error(post(engine, "/v1/embeddings", { model: "a", input: "x" }))).toMatchObject([501, {}]);
});

test("embeddings and reranking come from the models that do them", async () => {
  const engine = await engineWith({
    models: [
      { name: "e", kind: "embedding" },
      { name: "r", kind: "rerank" },
    ],
  });
  const vectors = JSON.parse((await post(engine, "/v1/embeddings", { model: "e", input: ["x", "y"] })).body);
  expect(vectors).toMatchObject({ object: "list", model: "e", data: [{ index: 0 }, { index: 1 }] });
  const ranked = JSON.parse((await post(engine, "/v1/rerank", { model: "r", query: "x", documents: ["x"] })).body);
  expect(ranked).toMatchObject({ results: [{ index: 0, relevance_score: 1 }] });
});

test("a key is asked for, but not for the list and health", async () => {
  const engine = await engineWith({ apiKey: "secret" });
  expect((await chat(engine).answer).body).toBe(
    '{"error":{"message":"Invalid API Key","type":"authentication_error","code":401}}',
  );
  const body = { model: "a", prompt: "x" };
  for (const headers of [{ authorization: "Bearer secret" }, { "x-api-key": "secret" }]) {
    expect((await ask(engine, "POST", "/v1/completions", body, headers).answer).status).toBe(200);
  }
  expect((await get(engine, "/v1/models")).status).toBe(200);
  expect((await get(engine, "/health")).status).toBe(200);
});

test("slots show who is at work", async () => {
  const engine = await engineWith({ slots: 2, tokensPerSecond: 1, models: [{ name: "a", loaded: true }] });
  const asked = chat(engine);
  await engine.waitFor((stats) => stats.active === 1);
  const slots = JSON.parse((await get(engine, "/slots?model=a")).body) as { is_processing: boolean }[];
  expect(slots.map((slot) => slot.is_processing)).toEqual([true, false]);
  asked.leave();
});

test("whoever watches sees every request as it came", async () => {
  const seen: SeenRequest[] = [];
  const engine = await engineWith({}, { onRequest: (request) => seen.push(request) });
  await ask(engine, "POST", "/v1/completions?x=1", '{ "model": "a",  "prompt": "x" }', { "x-mark": "7" }).answer;
  expect(seen).toMatchObject([{ method: "POST", url: "/v1/completions?x=1", headers: { "x-mark": "7" } }]);
  expect(seen[0]?.body.toString()).toBe('{ "model": "a",  "prompt": "x" }');
});

test("a taken port is said, and a closed engine is gone", async () => {
  const engine = await engineWith();
  await expect(engineWith({ listen: { port: engine.port } })).rejects.toThrow("EADDRINUSE");
  await engine.close();
  expect(await get(engine, "/health")).toMatchObject({ broken: "ECONNREFUSED" });
});

test("closing with grace lets running answers end", async () => {
  const engine = await engineWith({ tokensPerSecond: 50, models: [{ name: "a", loaded: true }] });
  const asked = chat(engine, { stream: true, max_tokens: 10 });
  await asked.firstBytes;
  await engine.close(5_000);
  expect((await asked.answer).body.endsWith("[DONE]\n\n")).toBe(true);
});
