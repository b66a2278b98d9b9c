import { describe, expect, it } from "vitest";
import type { RunningGateway } from "../../src/index.ts";
import { type Asked, completes, fakeWorker, hangs, refuses, resets } from "../support/fake-worker.ts";
import { agents, chat, errorOf, runGateway } from "../support/gateway.ts";
import { StreamReader } from "../support/stream-reader.ts";
import { until } from "../support/until.ts";

const EVERY = { sseComments: "50ms" };
const EVENTS = 'data: {"c":1}\n\ndata: [DONE]\n\n';

const streams = ({ response }: Pick<Asked, "response">) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(EVENTS);
};

const metrics = async (gateway: RunningGateway) => (await fetch(`${gateway.url}/metrics`)).text();

describe("a caller of a stream who waits", () => {
  it("is sent a comment when the wait has lasted so long, not before, and then again and again", async () => {
    const worker = await fakeWorker({ m: "warm" }, hangs);
    const gateway = await runGateway({ workers: agents({ a: worker }), sseComments: "200ms" });
    const startedAt = performance.now();
    const response = await chat(
      gateway,
      { stream: true },
      { headers: { "x-request-id": "slow-1", origin: "http://localhost:3000" } },
    );
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(200);
    expect(response.status).toBe(200);
    const headers = Object.fromEntries(response.headers);
    expect(headers).toMatchObject({
      "content-type": "text/event-stream",
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
      "x-request-id": "slow-1",
      vary: "Origin",
    });
    expect(Object.keys(headers).filter((name) => name.startsWith("x-farmgate-"))).toEqual([]);
    const reader = new StreamReader(response);
    await reader.until(/^(: waiting\n\n){3}/);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(600);
    streams(worker.request(0));
    expect(await reader.rest()).toMatch(/^(: waiting\n\n){3,}data: \{"c":1\}\n\ndata: \[DONE\]\n\n$/);
  });

  it("of events alone: the same word asks for sound in pieces where speech is wanted", async () => {
    const worker = await fakeWorker({ m: "warm" }, hangs);
    const gateway = await runGateway({ ...EVERY, workers: agents({ a: worker }) });
    const spoken = fetch(`${gateway.url}/v1/audio/speech`, {
      method: "POST",
      body: JSON.stringify({ model: "m", input: "hi", stream: true }),
    });
    const other = new StreamReader(await chat(gateway, { stream: true }));
    await other.until(/^(: waiting\n\n){3}/);
    for (const { path, response } of worker.asked) {
      if (path === "/v1/audio/speech") response.writeHead(200, { "content-type": "audio/mpeg" }).end("sound");
    }
    expect(await (await spoken).text()).toBe("sound");
  });

  it("before the first catalogues are there", async () => {
    const worker = await fakeWorker({});
    worker.catalogStatus = 0;
    const gateway = await runGateway({
      ...EVERY,
      workers: agents({ a: worker }),
      health: { interval: "60s", timeout: "30s" },
    });
    const reader = new StreamReader(await chat(gateway, { stream: true }));
    await reader.until(": waiting");
    worker.close();
    expect(await reader.rest()).toMatch(
      /^(: waiting\n\n)+data: \{"error":\{.*"code":"(no_worker|worker_failed)"\}\}\n\n$/,
    );
  });

  it("for a worker at its cap", async () => {
    const worker = await fakeWorker({ m: "warm" }, hangs);
    const gateway = await runGateway({ ...EVERY, workers: agents({ a: worker }, { maxConcurrent: 1 }) });
    const first = chat(gateway);
    await until("it is asked", () => worker.asked.length === 1);
    const reader = new StreamReader(await chat(gateway, { stream: true }));
    await reader.until(/^(: waiting\n\n){2}/);
    await completes()(worker.request(0));
    expect((await first).status).toBe(200);
    await until("it is asked again", () => worker.asked.length === 2);
    streams(worker.request(1));
    expect(await reader.rest()).toMatch(/^(: waiting\n\n)+data: \{"c":1\}\n\ndata: \[DONE\]\n\n$/);
  });

  it("for the first event of a worker that has sent no more than its head, which is passed on", async () => {
    const worker = await fakeWorker({ m: "warm" }, ({ response }) => {
      response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
      response.flushHeaders();
    });
    const gateway = await runGateway({ sseComments: "500ms", workers: agents({ a: worker }) });
    const response = await chat(gateway, { stream: true });
    expect(response.headers.get("x-farmgate-worker")).toBe("a");
    const reader = new StreamReader(response);
    await reader.until(/^(: waiting\n\n){2}/);
    worker.request(0).response.end(EVENTS);
    expect((await reader.rest()).replaceAll(": waiting\n\n", "")).toBe(EVENTS);
  });

  it("is sent none behind the first byte of its answer", async () => {
    const worker = await fakeWorker({ m: "warm" }, ({ response }) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("data: 1\n\n");
    });
    const gateway = await runGateway({ ...EVERY, workers: agents({ a: worker }) });
    const reader = new StreamReader(await chat(gateway, { stream: true }));
    await reader.until("data: 1");
    const other = new StreamReader(await chat(gateway, { stream: true }));
    await other.until("data: 1");
    await new Promise((resolve) => setTimeout(resolve, 200));
    for (const asked of worker.asked) asked.response.end("data: 2\n\n");
    expect(await reader.rest()).toMatch(/^(: waiting\n\n)*data: 1\n\ndata: 2\n\n$/);
    expect(await other.rest()).toMatch(/^(: waiting\n\n)*data: 1\n\ndata: 2\n\n$/);
  });

  it("keeps its worker only as long as it stays", async () => {
    const worker = await fakeWorker({ m: "warm" }, hangs);
    const gateway = await runGateway({ ...EVERY, workers: agents({ a: worker }) });
    const leaver = new AbortController();
    const reader = new StreamReader(await chat(gateway, { stream: true }, { signal: leaver.signal }));
    await reader.until(": waiting");
    leaver.abort();
    await expect(reader.rest()).rejects.toThrow("aborted");
    await until("the worker sees the close", () => worker.request(0).closed);
    await until("it is counted", async () => (await metrics(gateway)).includes('status="499"'));
  });
});

describe("no comment is sent", () => {
  const cases: [string, Record<string, unknown>, { headers?: Record<string, string> }, object][] = [
    ["to a caller who wants no stream", { stream: false }, {}, {}],
    ["to one who does not say", {}, {}, {}],
    ["to another gateway", { stream: true }, { headers: { "x-farmgate-hop": "1" } }, {}],
    ["to a gateway that takes this one for an engine", { stream: true }, { headers: { via: "1.1 farmgate-x" } }, {}],
    ["where they are turned off", { stream: true }, {}, { sseComments: 0 }],
  ];
  it.each(cases)("%s", async (_name, body, init, config) => {
    const worker = await fakeWorker({ m: "warm" }, async ({ response }) => {
      await new Promise((resolve) => setTimeout(resolve, 250));
      streams({ response });
    });
    const gateway = await runGateway({ ...EVERY, workers: agents({ a: worker }), ...config });
    const response = await chat(gateway, body, init);
    expect(response.headers.get("x-farmgate-worker")).toBe("a");
    expect(await response.text()).toBe(EVENTS);
  });

  it("where an error is known at once: it keeps its status", async () => {
    const worker = await fakeWorker({ m: "warm" }, refuses(400, { error: { message: "bad" } }));
    const gateway = await runGateway({ workers: agents({ a: worker }) });
    expect((await chat(gateway, { stream: true })).status).toBe(400);
    expect(await errorOf(await chat(gateway, { stream: true, model: "x" }))).toMatchObject({ status: 404 });
  });
});

describe("when no worker answers a caller who was sent comments", () => {
  it("tells it so inside its stream, and the log and metrics tell the true status", async () => {
    const worker = await fakeWorker({ m: "warm" }, hangs);
    const gateway = await runGateway({ ...EVERY, workers: agents({ a: worker }) });
    const reader = new StreamReader(await chat(gateway, { stream: true }));
    await reader.until(": waiting");
    await resets(worker.request(0));
    expect(await reader.rest()).toMatch(/^(: waiting\n\n)+data: \{"error":\{.*"code":"worker_failed"\}\}\n\n$/);
    await until("it is counted", async () => (await metrics(gateway)).includes('status="502"'));
    expect(await metrics(gateway)).not.toMatch(/farmgate_ttft_seconds_count\{/);
    expect(await metrics(gateway)).not.toMatch(/farmgate_streams_truncated_total\{/);
  });

  it("its own deadline is told as well", async () => {
    const worker = await fakeWorker({ m: "warm" }, hangs);
    const gateway = await runGateway({ ...EVERY, workers: agents({ a: worker }) });
    const response = await chat(gateway, { stream: true }, { headers: { "x-farmgate-deadline-ms": "300" } });
    expect(await response.text()).toMatch(/^(: waiting\n\n)+data: \{"error":\{.*"code":"deadline"\}\}\n\n$/);
  });

  it("an operator's cancel is told as well", async () => {
    const worker = await fakeWorker({ m: "warm" }, hangs);
    const gateway = await runGateway({ ...EVERY, workers: agents({ a: worker }) });
    const reader = new StreamReader(await chat(gateway, { stream: true }, { headers: { "x-request-id": "c1" } }));
    await reader.until(": waiting");
    await fetch(`${gateway.url}/farm/requests/c1`, { method: "DELETE" });
    expect(await reader.rest()).toMatch(/"code":"cancelled"\}\}\n\n$/);
  });
});

describe("with loadingStatus", () => {
  it("a comment says what is waited for", async () => {
    const worker = await fakeWorker({ coder: "cold" }, hangs);
    const gateway = await runGateway({ ...EVERY, loadingStatus: true, workers: agents({ "gpu-box": worker }) });
    const reader = new StreamReader(await chat(gateway, { stream: true, model: "coder" }));
    await reader.until(/^: farmgate: gpu-box is loading coder, \d+ s so far\n\n/);
    worker.models = { coder: "warm" };
    await reader.until(": farmgate: gpu-box has coder loaded and works on the answer, ");
    streams(worker.request(0));
    expect(await reader.rest()).toMatch(/so far\n\ndata: \{"c":1\}\n\ndata: \[DONE\]\n\n$/);
  });

  it("a comment says at which place of an agent's queue the request stands, and how long loading takes", async () => {
    const worker = await fakeWorker({ coder: "loading" }, hangs);
    const waiting = [{ id: "q1", model: "coder", position: 2, waited_ms: 10, bound_ms: null }];
    worker.more = { model: { load_ms: 45_000 }, catalog: { queue: { waiting } } };
    const gateway = await runGateway({ ...EVERY, loadingStatus: true, workers: agents({ "gpu-box": worker }) });
    const init = { headers: { "x-request-id": "q1" } };
    const reader = new StreamReader(await chat(gateway, { stream: true, model: "coder" }, init));
    await reader.until(/place 2/);
    expect(reader.text).toMatch(
      /: farmgate: gpu-box is loading coder, \d+ s so far of about 45 s, place 2 in its queue\n\n/,
    );
  });
});
