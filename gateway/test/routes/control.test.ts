import { request } from "node:http";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import type { RunningGateway } from "../../src/index.ts";
import { fakeWorker, hangs } from "../support/fake-worker.ts";
import { agents, chat, errorOf, runGateway } from "../support/gateway.ts";
import { until } from "../support/until.ts";

/** What these tests read of any JSON answer of the control paths. */
interface Body {
  object?: string;
  status?: string;
  state?: string;
  id?: string;
  error: { code: string };
  data: { id: string }[];
  models: object[];
  requests: object[];
  workers: { inflight: number }[];
}

async function json(gateway: RunningGateway, path: string, init: RequestInit = {}) {
  const response = await fetch(gateway.url + path, init);
  return { status: response.status, body: (await response.json()) as Body };
}

describe("/v1/models", () => {
  it("is the union of all workers, with aliases, from the cache", async () => {
    const a = await fakeWorker({ "org/big:Q4": "warm", small: "cold" });
    const b = await fakeWorker({ "org/big:Q4": "cold" });
    const gateway = await runGateway({
      workers: agents({ a, b }),
      models: { aliases: { fast: "SMALL", gone: "nowhere" } },
    });
    const { body } = await json(gateway, "/v1/models");
    expect(body.object).toBe("list");
    expect(body.data.map(({ id }) => id)).toEqual(["fast", "org/big:Q4", "small"]);
    expect(body.data[1]).toEqual({
      id: "org/big:Q4",
      object: "model",
      created: expect.any(Number),
      owned_by: "farmgate",
      farmgate: { workers: ["a", "b"], warm: ["a"], kind: "chat", context_length: null },
    });
    a.catalogStatus = 0;
    b.catalogStatus = 0;
    expect((await json(gateway, "/v1/models")).body.data).toHaveLength(3);
  });

  it("finds one model by its raw or encoded name, and says what comes close to a wrong one", async () => {
    const a = await fakeWorker({ "org/big:Q4": "warm" });
    const gateway = await runGateway({ workers: agents({ a }), models: { aliases: { fast: "org/big:Q4" } } });
    for (const path of ["org/big:Q4", "org%2Fbig%3AQ4", "ORG/BIG:q4"]) {
      expect((await json(gateway, `/v1/models/${path}`)).body).toMatchObject({ id: "org/big:Q4", object: "model" });
    }
    expect((await json(gateway, "/v1/models/fast")).body.id).toBe("fast");
    const wrong = await json(gateway, "/v1/models/org/big");
    expect(wrong.status).toBe(404);
    expect(wrong.body.error).toMatchObject({ code: "model_not_found", message: expect.stringContaining("org/big:Q4") });
  });
});

describe("health", () => {
  it("is down without a worker that serves, degraded with some, ok with all", async () => {
    const a = await fakeWorker({ m: "warm" });
    const b = await fakeWorker({ m: "warm" });
    const gateway = await runGateway({ workers: agents({ a, b }), health: { interval: "20ms", timeout: "500ms" } });
    const is = (status: string) => async () => (await json(gateway, "/health")).body.status === status;
    await until("ok", is("ok"));
    a.close();
    await until("degraded", is("degraded"));
    b.close();
    await until("down", is("down"));
    expect((await json(gateway, "/health")).status).toBe(503);
    expect((await fetch(`${gateway.url}/livez`)).status).toBe(200);
  });
});

describe("/farm", () => {
  it("shows the workers with their states", async () => {
    const a = await fakeWorker({ m: "warm", n: "cold" });
    const b = await fakeWorker({});
    b.catalogStatus = 500;
    const c = await fakeWorker({});
    c.catalogStatus = 401;
    const gateway = await runGateway({ workers: agents({ a, b, c }) });
    await until("all were polled", async () => (await fetch(`${gateway.url}/readyz`)).status === 200);
    const { body } = await json(gateway, "/farm/workers");
    expect(body.workers).toMatchObject([
      {
        name: "a",
        url: a.url,
        engine: "agent",
        state: "healthy",
        catalog: "fresh",
        weight: 1,
        inflight: 0,
        models: [
          { id: "m", state: "warm" },
          { id: "n", state: "cold" },
        ],
      },
      { name: "b", state: "degraded", catalog: "unreachable" },
      { name: "c", state: "misconfigured" },
    ]);
    expect((await json(gateway, "/farm/models")).body.models).toMatchObject([
      { id: "m", workers: ["a"], warm: ["a"], states: [{ worker: "a", state: "warm" }] },
      { id: "n", warm: [] },
    ]);
  });

  it("shows what is under way", async () => {
    const a = await fakeWorker({ m: "warm" }, hangs);
    const gateway = await runGateway({ workers: agents({ a }) });
    void chat(gateway, {}, { headers: { "x-request-id": "q" } }).catch(() => {});
    await until("it is asked", () => a.asked.length === 1);
    expect((await json(gateway, "/farm/requests")).body.requests).toMatchObject([
      { id: "q", model: "m", worker: "a", phase: "asking", since: expect.any(Number) },
    ]);
    expect((await json(gateway, "/farm/workers")).body.workers[0]?.inflight).toBe(1);
  });

  it("shows where a request waits in its agent's queue, and how long it will at most", async () => {
    const a = await fakeWorker({ m: "cold" }, hangs);
    const waits = { model: "m", position: 3, waited_ms: 12_000, bound_ms: 1_320_000 };
    const waiting = [
      { id: "of another gateway", ...waits, position: 2 },
      { id: "q", ...waits },
    ];
    a.more.catalog = { queue: { waiting } };
    const gateway = await runGateway({ workers: agents({ a }) });
    void chat(gateway, {}, { headers: { "x-request-id": "q" } }).catch(() => {});
    void chat(gateway, {}, { headers: { "x-request-id": "r" } }).catch(() => {});
    await until("both are asked", () => a.asked.length === 2);
    const requests = async () => {
      const { body } = await json(gateway, "/farm/requests");
      return body.requests as { id: string; queue: { waited_ms: number; bound_ms: number } | null }[];
    };
    const queued = (await requests()).find(({ id }) => id === "q")?.queue;
    expect(queued).toMatchObject({ position: 3 });
    expect(queued?.waited_ms).toBeGreaterThanOrEqual(12_000);
    expect((queued?.waited_ms ?? 0) + (queued?.bound_ms ?? 0)).toBe(1_332_000);
    expect((await requests()).find(({ id }) => id === "r")?.queue).toBe(null);
    a.more.catalog = { queue: { waiting: [] } };
    await until("it waits no more", async () => (await requests()).every(({ queue }) => queue === null));
  });

  it("takes a worker out of routing and back", async () => {
    const a = await fakeWorker({ m: "warm" });
    const b = await fakeWorker({ m: "cold" });
    const gateway = await runGateway({ workers: agents({ a, b }) });
    const served = async () => (await chat(gateway)).headers.get("x-farmgate-worker");
    expect(await served()).toBe("a");
    const drained = await json(gateway, "/farm/workers/a/drain", { method: "POST" });
    expect(drained.body).toMatchObject({ name: "a", state: "draining" });
    expect(await served()).toBe("b");
    expect((await json(gateway, "/farm/workers/a/resume", { method: "POST" })).body.state).toBe("healthy");
    expect(await served()).toBe("a");
    expect((await json(gateway, "/farm/workers/zz/drain", { method: "POST" })).status).toBe(404);
  });

  it("explains a choice without asking a worker, by path and by dry run", async () => {
    const a = await fakeWorker({ m: "cold" });
    const b = await fakeWorker({ m: "warm" });
    const gateway = await runGateway({ workers: agents({ a, b }) });
    const explained = await json(gateway, "/farm/explain", { method: "POST", body: '{"model":"m"}' });
    expect(explained.body).toMatchObject({
      model: "m",
      decision: { kind: "send", worker: "b" },
      ranked: [
        { worker: "b", set: "leading", warmth: "warm" },
        { worker: "a", set: "cold" },
      ],
    });
    const dry = await chat(gateway, {}, { headers: { "x-farmgate-dry-run": "1" } });
    expect(await dry.json()).toMatchObject({ decision: { kind: "send", worker: "b" } });
    expect([...a.asked, ...b.asked]).toEqual([]);
    for (const body of ["", "{", "{}", '{"model":""}']) {
      expect((await json(gateway, "/farm/explain", { method: "POST", body })).status).toBe(400);
    }
  });
});

describe("every other path", () => {
  it("is a 404 or 405 in the shape of its API", async () => {
    const gateway = await runGateway({});
    expect((await json(gateway, "/nowhere")).body.error.code).toBe("not_found");
    expect(typeof (await json(gateway, "/api/nowhere")).body.error).toBe("string");
    const wrong = await fetch(`${gateway.url}/v1/models`, { method: "POST", body: "{}" });
    expect(wrong.headers.get("allow")).toContain("GET");
    expect(await errorOf(wrong)).toMatchObject({ status: 405, code: "method_not_allowed" });
    const inference = await fetch(`${gateway.url}/v1/embeddings`);
    expect(inference.headers.get("allow")).toBe("POST");
    expect(await errorOf(inference)).toMatchObject({ status: 405, code: "method_not_allowed" });
    expect((await json(gateway, "/v1/models/%E0%A4%A")).status).toBe(400);
  });

  it("answers HEAD where it answers GET", async () => {
    const gateway = await runGateway({});
    for (const path of ["/", "/v1/models", "/livez"]) {
      const response = await fetch(gateway.url + path, { method: "HEAD" });
      expect(response.status).toBe(200);
      expect(await response.text()).toBe("");
    }
    expect(await (await fetch(`${gateway.url}/`)).text()).toBe("Farmgate is running");
  });

  it("refuses what is no HTTP with a readable 400", async () => {
    const gateway = await runGateway({});
    const socket = connect(gateway.port, "127.0.0.1");
    socket.write("nonsense\r\n\r\n");
    const answer = await new Promise<string>((resolve) => socket.once("data", (data) => resolve(data.toString())));
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
    expect(answer).toContain('"code":"invalid_request"');
  });

  it("keeps a connection for the next request", async () => {
    const gateway = await runGateway({});
    const keepAlive = await new Promise<unknown>((resolve, reject) => {
      const sent = request(`${gateway.url}/livez`, { headers: { connection: "keep-alive" } }, (response) => {
        response.resume();
        resolve(response.headers["keep-alive"]);
      });
      sent.on("error", reject);
      sent.end();
    });
    expect(keepAlive).toBe("timeout=75");
  });
});

describe("/metrics", () => {
  it("counts requests under catalogue names alone, and tokens as the engine counted them", async () => {
    const a = await fakeWorker({ m: "warm" });
    const gateway = await runGateway({ workers: agents({ a }) });
    await (await chat(gateway)).text();
    await (await chat(gateway, { model: "what a caller types" })).text();
    const text = await (await fetch(`${gateway.url}/metrics`)).text();
    for (const line of [
      'farmgate_requests_total{api="chat",model="m",worker="a",status="200",warmth="warm"} 1',
      'farmgate_requests_total{api="chat",model="other",worker="",status="404",warmth=""} 1',
      'farmgate_tokens_total{model="m",worker="a",direction="prompt"} 3',
      'farmgate_tokens_total{model="m",worker="a",direction="completion"} 2',
      'farmgate_ttft_seconds_count{model="m",worker="a"} 1',
      "farmgate_request_seconds_count",
      "farmgate_overhead_seconds_count",
      'farmgate_inflight{worker="a"} 0',
      "farmgate_queue_depth 0",
      'farmgate_worker_up{worker="a"} 1',
      'farmgate_catalog_age_seconds{worker="a"}',
      'farmgate_model_warm{worker="a",model="m"} 1',
    ]) {
      expect(text).toContain(line);
    }
    expect(text).not.toContain("what a caller types");
  });
});
