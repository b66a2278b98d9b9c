import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { RunningGateway } from "../../src/index.ts";
import { type Answer, type FakeWorker, fakeWorker, hangs, refuses, resets } from "../support/fake-worker.ts";
import { agents, chat, runGateway } from "../support/gateway.ts";
import { StreamReader } from "../support/stream-reader.ts";
import { until } from "../support/until.ts";

const COMMENTS = /^(: waiting\n\n)+/;
const EVENTS = 'data: {"c":"é漢😀"}\r\n\r\ndata:{"c":2}\n\n: theirs\n\ndata: [DONE]\n\n';

/** A gateway whose callers get comments soon, before workers that are silent until they are told what to answer. */
async function farm(count = 1, config: object = {}) {
  const workers: FakeWorker[] = [];
  for (let i = 0; i < count; i += 1) workers.push(await fakeWorker({ m: i === 0 ? "warm" : "cold" }, hangs));
  const named = Object.fromEntries(workers.map((worker, i) => ["abc"[i] ?? "", worker]));
  const gateway = await runGateway({ sseComments: "30ms", workers: agents(named), ...config });
  const worker = (n: number): FakeWorker => {
    const found = workers[n];
    if (found === undefined) throw new Error(`there are ${count} workers`);
    return found;
  };
  return { gateway, worker };
}

async function asked(worker: FakeWorker) {
  await until("the worker is asked", () => worker.asked.length === 1);
  return worker.request(0);
}

/** A caller's stream once it has been sent a comment. */
async function waiting(gateway: RunningGateway, headers: Record<string, string> = {}): Promise<StreamReader> {
  const response = await chat(gateway, { stream: true }, { headers });
  expect(response.status).toBe(200);
  const reader = new StreamReader(response);
  await reader.until(": waiting");
  return reader;
}

async function answerBehind(reader: StreamReader): Promise<string> {
  const text = await reader.rest();
  expect(text).toMatch(COMMENTS);
  return text.replace(COMMENTS, "");
}

const streams =
  (events: string): Answer =>
  ({ response }) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).end(events);
  };

const metric = async (gateway: RunningGateway, part: string) =>
  until(part, async () => (await (await fetch(`${gateway.url}/metrics`)).text()).includes(part));

describe("behind comments", () => {
  const failures: [string, Answer][] = [
    ["resets the connection", resets],
    ["answers 500", refuses(500, { error: { message: "boom" } })],
    ["does not know the model", refuses(404, { error: { message: "model 'm' not found" } })],
    ["answers a page that is no stream of events", refuses(200, "<html>hello</html>", { "content-type": "text/html" })],
    [
      "answers a packed stream",
      ({ response }) =>
        void response.writeHead(200, { "content-type": "text/event-stream", "content-encoding": "gzip" }).end("x"),
    ],
  ];
  it.each(failures)("the next worker is asked when one %s", async (_name, fails) => {
    const { gateway, worker } = await farm(2);
    const reader = await waiting(gateway);
    await fails(await asked(worker(0)));
    await streams(EVENTS)(await asked(worker(1)));
    expect(await answerBehind(reader)).toBe(EVENTS);
    await metric(gateway, 'model="m",worker="b",status="200"');
  });

  it("the bytes of an answer are the worker's own, however they are cut", async () => {
    const { gateway, worker } = await farm();
    const pieces = fc.array(fc.uint8Array({ minLength: 1, maxLength: 200 }), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(pieces, fc.boolean(), async (sent, apart) => {
        worker(0).asked.length = 0;
        const reader = await waiting(gateway);
        const { response } = await asked(worker(0));
        response.writeHead(200, { "content-type": "text/event-stream" });
        for (const piece of sent) {
          response.write(piece);
          if (apart) await new Promise(setImmediate);
        }
        response.end();
        await reader.rest();
        const all = Buffer.concat(sent);
        expect(reader.bytes.subarray(-all.length).equals(all)).toBe(true);
        expect(reader.bytes.subarray(0, -all.length).toString()).toMatch(/^(: waiting\n\n)+$/);
      }),
      { numRuns: 25 },
    );
  });

  it("a break is told as in any stream", async () => {
    const { gateway, worker } = await farm();
    const reader = await waiting(gateway);
    const { response } = await asked(worker(0));
    response.writeHead(200, { "content-type": "text/event-stream" }).write("data: 1\n\nda");
    await reader.until("data: 1");
    response.destroy();
    expect(await answerBehind(reader)).toMatch(/^data: 1\n\nda\n\ndata: \{"error":\{.*"worker_failed"\}\}\n\n$/);
    await metric(gateway, 'status="502"');
  });

  it("a whole answer from a worker that does not stream becomes one event", async () => {
    const { gateway, worker } = await farm();
    const reader = await waiting(gateway);
    const body = { choices: [{ message: { content: "two\nlines" } }], usage: { prompt_tokens: 7 } };
    await refuses(200, JSON.stringify(body, null, 2).replaceAll("\n", "\r\n"))(await asked(worker(0)));
    const text = await answerBehind(reader);
    expect(text).toMatch(/^data: [^\r\n]*\n\n$/);
    expect(JSON.parse(text.slice("data: ".length))).toEqual(body);
    await metric(gateway, 'farmgate_tokens_total{model="m",worker="a",direction="prompt"} 7');
  });

  it("the caller's own fault is told as an event, and counted with its status", async () => {
    const { gateway, worker } = await farm(2);
    const reader = await waiting(gateway);
    const fault = { error: { message: "too long", type: "invalid_request_error", code: "context_length_exceeded" } };
    await refuses(400, JSON.stringify(fault, null, 1))(await asked(worker(0)));
    expect(await answerBehind(reader)).toBe(`data: ${JSON.stringify(fault)}\n\n`);
    expect(worker(1).asked).toHaveLength(0);
    await metric(gateway, 'model="m",worker="a",status="400"');
  });

  it.each([
    ["is longer than is read of it", "x".repeat(500_000)],
    ["is empty", ""],
  ])("a fault is told even when its body %s", async (_what, body) => {
    const { gateway, worker } = await farm();
    const reader = await waiting(gateway);
    await refuses(400, body)(await asked(worker(0)));
    const text = await answerBehind(reader);
    expect(text.length).toBeLessThan(3_000);
    expect(text).toMatch(/^data: \{"error":\{"message":".+","type":"invalid_request_error".*\}\}\n\n$/);
  });

  it("a fault is told although its body never ends", async () => {
    const { gateway, worker } = await farm(1, { timeouts: { idle: "300ms" } });
    const reader = await waiting(gateway);
    const { response } = await asked(worker(0));
    response.writeHead(400, { "content-type": "application/json" });
    const drip = setInterval(() => response.write("x"), 20);
    expect(await answerBehind(reader)).toMatch(/^data: \{"error":.*"invalid_request_error".*\}\n\n$/);
    await until("the worker is let go", () => response.destroyed);
    clearInterval(drip);
    await metric(gateway, 'model="m",worker="a",status="400"');
  });

  it("what every worker said is told when none is left", async () => {
    const { gateway, worker } = await farm(2);
    const reader = await waiting(gateway);
    await refuses(500, { error: { message: "boom" } })(await asked(worker(0)));
    await refuses(200, "hello", { "content-type": "text/plain" })(await asked(worker(1)));
    const text = await answerBehind(reader);
    expect(text).toContain("a: answered 500 (worker fault: boom), b: answered 200 (worker fault: no stream of events)");
    expect(text).toMatch(/^data: .*"code":"worker_failed"\}\}\n\n$/);
    await metric(gateway, 'status="502"');
  });

  it("a fallback may answer", async () => {
    const { gateway, worker } = await farm(1, { models: { fallbacks: { m: ["other"] } } });
    worker(0).models = { m: "warm", other: "warm" };
    const reader = await waiting(gateway);
    await refuses(503, { error: { message: "no", code: "load_failed" } })(await asked(worker(0)));
    await until("the fallback is asked for", () => worker(0).asked.length === 2);
    expect(worker(0).request(1).body).toContain('"model":"other"');
    await streams(EVENTS)(worker(0).request(1));
    expect(await answerBehind(reader)).toBe(EVENTS);
  });
});
