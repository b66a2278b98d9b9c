import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { catalogSchema } from "@farmgate/shared";
import { describe, expect, it } from "vitest";
import { HELD_SCRIPT, startRig } from "./support/agent-rig.ts";
import { until } from "./support/conditions.ts";
import { handMadeEngine } from "./support/hand-made-engine.ts";
import { startHeldRig } from "./support/held-rig.ts";

const aLoaded = { models: [{ name: "a", loaded: true }, "b"] };

async function ask(url: string, method = "GET", headers: Record<string, string> = {}) {
  const answer = await fetch(url, { method, headers });
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Record<string, unknown> };
}

it("an order of a gateway whose place another has taken is refused, and orders nothing", async () => {
  const rig = await startRig({ engine: aLoaded });
  const load = (fence: string) => ask(`${rig.agent.url}/models/b/load`, "POST", { "x-farmgate-fence": fence });
  expect((await ask(`${rig.agent.url}/models/a/load`, "POST", { "x-farmgate-fence": "8" })).status).toBe(202);
  const stale = await load("7");
  expect(stale).toMatchObject({ status: 409, body: { error: { code: "stale_order" } } });
  expect((await load("8")).status).toBe(202);
  expect((await ask(`${rig.agent.url}/models/b/load`, "POST")).status).toBe(202);
});

describe("what an agent tells", () => {
  it("is a catalogue by the protocol, at once while a model is being loaded", async () => {
    const engine = await handMadeEngine((_request, response) => response.end("{}"));
    const models = ["a", "b"].map((name) => ({ name, url: `${engine.url}/${name}` }));
    const rig = await startRig({ script: HELD_SCRIPT, config: { models } });
    const waiting = rig.chat("b");
    await until(async () => (await rig.health())["model"] === null);
    const { body } = await ask(`${rig.agent.url}/catalog`);
    const catalogue = catalogSchema.parse(body);
    expect(catalogue).toMatchObject({
      worker: "box",
      version: "0.1.0",
      draining: false,
      queue: { depth: 1, swapping_to: "b" },
    });
    expect(catalogue.models.map(({ id, state, queued }) => [id, state, queued])).toEqual([
      ["a", "cold", 0],
      ["b", "loading", 1],
    ]);
    await writeFile(join(rig.directory, "go"), "");
    expect((await waiting).status).toBe(200);
    expect((await rig.health())["last_swap_ms"]).toBeGreaterThan(0);
  });

  it("has the figures that were learned, and null before", async () => {
    const rig = await startRig({
      engine: { load: "50ms", tokensPerSecond: 100, models: [{ name: "a", contextLength: 4_096 }, "b"] },
    });
    const modelA = async () => {
      const { models } = catalogSchema.parse((await ask(`${rig.agent.url}/catalog`)).body);
      return models.at(0);
    };
    const unknown = { load_ms: null, tokens_per_second: null, memory_bytes: null, context_length: null, engine: null };
    expect(await modelA()).toMatchObject(unknown);
    await (await rig.chat("a", "Hi", { body: { max_tokens: 20, stream: true } })).text();
    await until(async () => (await modelA())?.tokens_per_second !== null);
    const learned = await modelA();
    expect(learned).toMatchObject({ context_length: 4_096, engine: "llama-server" });
    expect(learned?.load_ms).toBeGreaterThanOrEqual(50);
    expect(learned?.tokens_per_second).toBeGreaterThan(50);
    expect(learned?.tokens_per_second).toBeLessThan(200);
  });

  it("is a list of models as OpenAI has it, with aliases", async () => {
    const models = [{ name: "org/coder", url: "http://127.0.0.1:1", aliases: ["code"] }];
    const rig = await startRig({ config: { models } });
    const { body } = await ask(`${rig.agent.url}/v1/models`);
    expect(body).toMatchObject({ object: "list", data: [{ id: "org/coder", object: "model" }, { id: "code" }] });
    for (const id of ["org/coder", "org%2Fcoder", "ORG/Coder", "code"]) {
      expect((await ask(`${rig.agent.url}/v1/models/${id}`)).body).toMatchObject({ id: "org/coder" });
    }
    const missing = await ask(`${rig.agent.url}/v1/models/org/coda`);
    expect(missing.status).toBe(404);
    expect(missing.body).toMatchObject({ error: { code: "model_not_found" } });
    expect((await ask(`${rig.agent.url}/v1/models/%E0%A4%A`)).status).toBe(400);
  });

  it("is metrics with the names of the contract", async () => {
    const rig = await startRig();
    await rig.chat("a");
    await rig.chat("nobody-knows-it");
    const text = await (await fetch(`${rig.agent.url}/metrics`)).text();
    for (const line of [
      'farmgate_agent_queue_depth{model="a"} 0',
      "farmgate_agent_oldest_wait_seconds 0",
      'farmgate_agent_inflight{model="b"} 0',
      'farmgate_agent_swaps_total{from="none",to="a",result="ok"} 1',
      'farmgate_agent_swap_seconds_count{to="a"} 1',
      'farmgate_agent_served_total{model="a",status="200"} 1',
      'farmgate_agent_served_total{model="other",status="404"} 1',
    ]) {
      expect(text).toContain(line);
    }
    expect(text).not.toContain("nobody-knows-it");
  });

  it("is an error in one shape for unknown paths and wrong methods", async () => {
    const rig = await startRig();
    const unknown = await ask(`${rig.agent.url}/nowhere`);
    expect(unknown.status).toBe(404);
    expect(unknown.body).toMatchObject({ error: { code: "not_found" } });
    expect(unknown.headers.get("x-request-id")).toBeTruthy();
    for (const [path, method, allow] of [
      ["/v1/chat/completions", "GET", "POST"],
      ["/catalog", "POST", "GET, HEAD"],
      ["/drain", "GET", "POST"],
      ["/models/a/load", "GET", "POST"],
    ] as const) {
      const wrong = await ask(rig.agent.url + path, method);
      expect(wrong.status).toBe(405);
      expect(wrong.body).toMatchObject({ error: { code: "method_not_allowed" } });
      expect(wrong.headers.get("allow")).toBe(allow);
    }
  });
});

describe("orders", () => {
  it("load a model: 202 at once, and later it is warm", async () => {
    const rig = await startRig();
    const answer = await ask(`${rig.agent.url}/models/b/load`, "POST", { "content-type": "application/json" });
    expect(answer.status).toBe(202);
    expect(answer.body).toEqual({ model: "b", state: "loading" });
    await until(async () => (await rig.health())["model"] === "b");
    expect(await rig.calls()).toEqual(["b"]);
    expect(await rig.health()).toMatchObject({ queue_depth: 0, inflight: 0 });
    expect((await ask(`${rig.agent.url}/models/c/load`, "POST")).status).toBe(404);
    expect((await ask(`${rig.agent.url}/models/b/explode`, "POST")).status).toBe(404);
  });

  it("load a model once, however often they come, and take none of the queue's places from requests", async () => {
    const rig = await startRig({ script: HELD_SCRIPT, engine: aLoaded, config: { queue: { maxDepth: 2 } } });
    const orders = Array.from({ length: 20 }, () => ask(`${rig.agent.url}/models/b/load`, "POST"));
    for (const { status } of await Promise.all(orders)) expect(status).toBe(202);
    expect(await rig.health()).toMatchObject({ queue_depth: 1 });
  });

  it("do not unload with a script that is not said to know how", async () => {
    const rig = await startRig({ engine: aLoaded });
    const answer = await ask(`${rig.agent.url}/models/a/unload`, "POST");
    expect(answer.status).toBe(501);
    expect(JSON.stringify(answer.body)).toContain("swap.unload: true");
  });

  it("unload an idle model by the script; a request that comes meanwhile waits for it and loads anew", async () => {
    const rig = await startRig({ engine: aLoaded, config: { swap: { unload: true } } });
    const unloaded = ask(`${rig.agent.url}/models/a/unload`, "POST");
    await until(async () => (await rig.health())["model"] === null);
    const answer = rig.chat("a");
    expect(await unloaded).toMatchObject({ status: 200 });
    expect((await answer).status).toBe(200);
    expect(await rig.calls()).toEqual(["unload a", "a"]);
    expect((await ask(`${rig.agent.url}/models/b/unload`, "POST")).body).toEqual({ model: "b", state: "cold" });
    expect(await rig.calls()).toEqual(["unload a", "a"]);
  });

  it("do not unload a model that is answering", async () => {
    const engine = await handMadeEngine(() => {});
    const config = { swap: { unload: true }, models: [{ name: "a", url: engine.url }] };
    const rig = await startRig({ config });
    const leaver = new AbortController();
    const running = rig.chat("a", "1", { signal: leaver.signal }).catch(() => null);
    await until(() => engine.requests.length === 1);
    const answer = await ask(`${rig.agent.url}/models/a/unload`, "POST");
    expect(answer.status).toBe(409);
    expect(answer.body).toMatchObject({ error: { code: "conflict", message: "a is answering requests right now." } });
    leaver.abort();
    await running;
  });
});

describe("a page from elsewhere", () => {
  it("may not order anything, nor may one that says nothing of itself; a page of this machine may", async () => {
    const rig = await startRig();
    for (const [origin, status] of [
      ["https://evil.example", 403],
      ["null", 403],
      ["http://localhost:3000", 200],
    ] as const) {
      expect((await ask(`${rig.agent.url}/drain`, "POST", { origin })).status).toBe(status);
    }
    expect((await ask(`${rig.agent.url}/catalog`, "GET", { origin: "https://evil.example" })).status).toBe(200);
  });
});

describe("keys", () => {
  const keys = [
    { name: "gateway", key: "k-gateway", admin: true },
    { name: "bob", key: "k-bob", models: ["b*"], maxConcurrent: 1 },
  ];

  it("are needed for everything but the health", async () => {
    const rig = await startRig({ config: { keys } });
    expect((await ask(`${rig.agent.url}/health`)).status).toBe(200);
    for (const path of ["/catalog", "/v1/models", "/v1/models/a"]) {
      const answer = await ask(rig.agent.url + path);
      expect(answer.status).toBe(401);
      expect(answer.body).toMatchObject({ error: { code: "invalid_api_key" } });
      expect((await ask(rig.agent.url + path, "GET", { authorization: "Bearer wrong" })).status).toBe(401);
    }
    expect((await fetch(`${rig.agent.url}/metrics`)).status).toBe(401);
    expect((await rig.chat("a")).status).toBe(401);
    expect((await ask(`${rig.agent.url}/drain`, "POST")).status).toBe(401);
  });

  it("come as Bearer, as x-api-key or by Basic", async () => {
    const rig = await startRig({ config: { keys }, engine: aLoaded });
    const basic = Buffer.from("anyone:k-gateway").toString("base64");
    for (const headers of [
      { authorization: "Bearer k-gateway" },
      { "x-api-key": "k-gateway" },
      { authorization: `Basic ${basic}` },
    ]) {
      expect((await rig.chat("a", "Hi", { headers: headers as Record<string, string> })).status).toBe(200);
    }
  });

  it("limit the models, the orders and the requests at once", async () => {
    const rig = await startHeldRig({ keys });
    const bob = { authorization: "Bearer k-bob" };
    expect(((await ask(`${rig.agent.url}/v1/models`, "GET", bob)).body["data"] as object[]).length).toBe(1);
    const forbidden = await rig.chat("a", "Hi", { headers: bob });
    expect(forbidden.status).toBe(403);
    expect(await forbidden.json()).toMatchObject({ error: { code: "model_not_allowed" } });
    const order = await ask(`${rig.agent.url}/drain`, "POST", bob);
    expect(order.status).toBe(403);
    expect(order.body).toMatchObject({ error: { code: "forbidden" } });
    const first = rig.chat("b", "1", { headers: bob });
    await until(() => rig.asked.length === 1);
    const second = await rig.chat("b", "2", { headers: bob });
    expect(second.status).toBe(429);
    expect(second.headers.get("retry-after")).toBe("1");
    rig.release();
    expect((await first).status).toBe(200);
    expect((await rig.chat("b", "3", { headers: bob })).status).toBe(200);
  });
});
