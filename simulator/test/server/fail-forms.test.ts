import { expect, test, vi } from "vitest";
import { ask, chat, engineWith, get } from "./ask.ts";

const READY = { models: [{ name: "a", loaded: true }, "b"] };

test("refuse: connections are refused, open ones break, and it can come back on the same port", async () => {
  const engine = await engineWith({ ...READY, tokensPerSecond: 20 });
  const running = chat(engine, { stream: true, max_tokens: 1_000 });
  await running.firstBytes;
  await engine.setFail(["refuse"]);
  expect(await running.answer).toMatchObject({ broken: "ECONNRESET" });
  expect(await get(engine, "/health")).toMatchObject({ broken: "ECONNREFUSED" });
  await engine.setFail([]);
  expect(await get(engine, "/health")).toMatchObject({ status: 200 });
});

test("refuse from the start knows its port already", async () => {
  const engine = await engineWith({ ...READY, fail: ["refuse"] });
  expect(engine.port).toBeGreaterThan(0);
  expect(await get(engine, "/health")).toMatchObject({ broken: "ECONNREFUSED" });
});

test("hang: no path answers; with a scope only inference hangs", async () => {
  let seen = 0;
  const engine = await engineWith({ ...READY, fail: ["hang"] }, { onRequest: () => (seen += 1) });
  const health = ask(engine, "GET", "/health");
  const text = chat(engine);
  await vi.waitUntil(() => seen === 2, { timeout: 60_000 });
  await engine.setFail(["hang@a"]);
  expect(await get(engine, "/health")).toMatchObject({ status: 200 });
  expect(await chat(engine, { model: "b" }).answer).toMatchObject({ status: 200 });
  expect([health.received(), text.received()]).toEqual([0, 0]);
  const scoped = chat(engine);
  expect(await get(engine, "/health")).toMatchObject({ status: 200 });
  expect(scoped.received()).toBe(0);
  for (const asked of [health, text, scoped]) asked.leave();
  await engine.waitFor((stats) => stats.left === 1);
});

test("reset-after-N-bytes: exactly N bytes of the body, then a reset", async () => {
  const engine = await engineWith({ ...READY, fail: ["reset-after-512-bytes"] });
  for (const stream of [true, false]) {
    const asked = chat(engine, { stream });
    expect(await asked.answer).toMatchObject({ status: 200, broken: "ECONNRESET" });
    expect(asked.received()).toBe(512);
  }
  await engine.waitFor((stats) => stats.reset === 2);
  expect(engine.stats).toMatchObject({ served: 0, left: 0, active: 0 });
  expect(await get(engine, "/v1/models")).toMatchObject({ status: 200, broken: null });
});

test("reset-after-N-bytes counts over many small events, and spares an answer that is shorter", async () => {
  const engine = await engineWith({ ...READY, tokensPerSecond: 200, fail: ["reset-after-2000-bytes"] });
  const asked = chat(engine, { stream: true, max_tokens: 100 });
  await asked.answer;
  expect(asked.received()).toBe(2_000);
  expect(await chat(engine, { max_tokens: 2 }).answer).toMatchObject({ status: 200, broken: null });
});

test("reset-after-0-bytes: not even a status line", async () => {
  const engine = await engineWith({ ...READY, fail: ["reset-after-0-bytes"] });
  expect(await chat(engine).answer).toMatchObject({ status: 0, broken: "ECONNRESET" });
});

test("503-loading: every path says so, as a loading llama-server does", async () => {
  const engine = await engineWith({ ...READY, fail: ["503-loading"] });
  const body = '{"error":{"message":"Loading model","type":"unavailable_error","code":503}}';
  expect(await chat(engine).answer).toMatchObject({ status: 503, body });
  expect(await get(engine, "/v1/models")).toMatchObject({ status: 503, body });
});

test("slow: everything takes its factor longer", async () => {
  const engine = await engineWith({ ...READY, tokensPerSecond: 200, fail: ["slow-10@a"] });
  const started = performance.now();
  await chat(engine).answer;
  const slow = performance.now() - started;
  expect(slow).toBeGreaterThan(380);
  await chat(engine, { model: "b" }).answer;
  expect(performance.now() - started - slow).toBeLessThan(slow);
});

test("status-N and the first N requests", async () => {
  const engine = await engineWith({ ...READY, fail: ["status-500:2"] });
  const statuses = [];
  for (let i = 0; i < 3; i += 1) statuses.push((await chat(engine).answer).status);
  expect(statuses).toEqual([500, 500, 200]);
});

test("catalog-N: only the model list fails", async () => {
  const engine = await engineWith({ ...READY, fail: ["catalog-500"] });
  expect((await get(engine, "/v1/models")).status).toBe(500);
  expect((await get(engine, "/health")).status).toBe(200);
  expect((await chat(engine).answer).status).toBe(200);
});

test("load-fails: whoever waited gets the router's 500, and the list says failed", async () => {
  const engine = await engineWith({ ...READY, load: "100ms", fail: ["load-fails@b:1"] });
  const answers = await Promise.all([1, 2, 3].map(() => chat(engine, { model: "b" }).answer));
  for (const answer of answers) {
    expect(answer.status).toBe(500);
    expect(answer.body).toContain("model name=b failed to load");
  }
  const { data } = JSON.parse((await get(engine, "/v1/models")).body);
  expect(data[1].status).toMatchObject({ value: "unloaded", failed: true, exit_code: 1 });
  expect((await chat(engine, { model: "b" }).answer).status).toBe(200);
});

test("a form that is none is refused with the forms there are", async () => {
  const engine = await engineWith(READY);
  await expect(engine.setFail(["explode"])).rejects.toThrow("reset-after-N-bytes");
});
