import { describe, expect, it } from "vitest";
import type { RunningGateway } from "../../src/index.ts";
import { type Answer, fakeWorker, hangs, refuses } from "../support/fake-worker.ts";
import { agents, errorOf, runGateway } from "../support/gateway.ts";
import { StreamReader } from "../support/stream-reader.ts";
import { dataOf } from "../support/translate.ts";
import { until } from "../support/until.ts";

/** A worker that speaks this API alone. */
async function speaking(api: string, answer: Answer) {
  const worker = await fakeWorker({ m: "warm" }, answer);
  worker.figures = { m: { apis: [api] } };
  return worker;
}

function post(gateway: RunningGateway, path: string, body: object, headers: Record<string, string> = {}) {
  const text = JSON.stringify({ model: "m", ...body });
  return fetch(gateway.url + path, {
    method: "POST",
    body: text,
    headers: { "content-type": "application/json", ...headers },
  });
}

const chat = (gateway: RunningGateway, body: object = {}, headers: Record<string, string> = {}) =>
  post(gateway, "/v1/chat/completions", { messages: [{ role: "user", content: "Hi" }], ...body }, headers);

const HELLO = { model: "m", message: { role: "assistant", content: "Hello" } };
const DONE = { model: "m", message: { role: "assistant", content: "" }, done: true, done_reason: "stop" };
const says = (answer: object): Answer => refuses(200, answer);
const streamsLines =
  (...lines: object[]): Answer =>
  ({ response }) => {
    response.writeHead(200, { "content-type": "application/x-ndjson" });
    response.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  };

const contentOf = (text: string) =>
  dataOf(text)
    .map((chunk) => (chunk as { choices?: { delta?: { content?: string } }[] }).choices?.[0]?.delta?.content ?? "")
    .join("");

describe("a question that is put in another way", () => {
  it("goes at once as what the worker speaks, without what describes the caller's own API", async () => {
    const worker = await speaking("ollama-chat", says({ ...HELLO, done: true }));
    const gateway = await runGateway({ workers: agents({ worker }) });
    const mine = { "x-stainless-lang": "js", "openai-organization": "o", accept: "text/event-stream", "x-mine": "1" };
    const response = await chat(gateway, {}, mine);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("x-farmgate-attempts")).toBe("1");
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: "Hello" } }] });
    const { path, headers, body } = worker.request(0);
    expect(path).toBe("/api/chat");
    expect(headers["x-mine"]).toBe("1");
    for (const name of ["x-stainless-lang", "openai-organization", "accept"]) expect(headers[name]).toBeUndefined();
    expect(headers["content-length"]).toBe(String(Buffer.byteLength(body)));
  });

  it("streams as the caller's API has it", async () => {
    const worker = await speaking("ollama-chat", streamsLines(HELLO, DONE));
    const response = await chat(await runGateway({ workers: agents({ worker }) }), { stream: true });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(response.headers.get("x-accel-buffering")).toBe("no");
    const text = await response.text();
    expect(contentOf(text)).toBe("Hello");
    expect(text).toMatch(/data: \[DONE\]\n\n$/);
  });

  it("is a stream for the caller also where the worker answers whole", async () => {
    const worker = await speaking("ollama-chat", says({ ...HELLO, done: true }));
    const response = await chat(await runGateway({ workers: agents({ worker }) }), { stream: true });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(contentOf(await response.text())).toBe("Hello");
  });

  it("reaches a reranker whose answer is a bare list", async () => {
    const worker = await speaking("tei-rerank", says([{ index: 1, score: 0.5 }]));
    const gateway = await runGateway({ workers: agents({ worker }) });
    const response = await post(gateway, "/v1/rerank", { query: "q", documents: ["a", "b"] });
    expect(await response.json()).toMatchObject({ results: [{ index: 1, relevance_score: 0.5 }] });
    expect(worker.request(0).path).toBe("/rerank");
  });

  it("follows in a stream that was begun with comments", async () => {
    const worker = await speaking("ollama-chat", hangs);
    const gateway = await runGateway({ sseComments: "30ms", workers: agents({ worker }) });
    const reader = new StreamReader(await chat(gateway, { stream: true }));
    await reader.until(": waiting");
    await until("the worker is asked", () => worker.asked.length === 1);
    await streamsLines(HELLO, DONE)(worker.request(0));
    expect(contentOf(await reader.rest())).toBe("Hello");
  });
});

describe("what goes wrong with a question that is put in another way", () => {
  it("is told in the caller's own form when the worker refuses the request", async () => {
    const worker = await speaking("ollama-chat", refuses(400, { error: '"m" does not support tools' }));
    const gateway = await runGateway({ workers: agents({ worker }) });
    for (const stream of [false, true]) {
      const response = await chat(gateway, { stream });
      expect(response.headers.get("content-type")).toBe("application/json");
      expect(await errorOf(response)).toMatchObject({ status: 400, message: '"m" does not support tools' });
    }
  });

  it.each([
    ["is not of its API", says({ hello: "world" })],
    ["is no JSON", refuses(200, "<html>")],
    ["is an error all the same", says({ error: "out of memory" })],
  ])("lets the next worker answer when a whole answer %s", async (_, answer) => {
    const bad = await speaking("ollama-chat", answer);
    const good = await speaking("ollama-chat", says({ ...HELLO, done: true }));
    good.models = { m: "cold" };
    const response = await chat(await runGateway({ workers: agents({ bad, good }) }));
    expect(response.headers.get("x-farmgate-worker")).toBe("good");
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: "Hello" } }] });
  });

  it.each([
    ["ends too early", streamsLines(HELLO), /ended before its answer was complete/],
    ["tells an error inside", streamsLines(HELLO, { error: "out of memory" }, DONE), /out of memory/],
  ])("is told inside the stream when it %s, and nothing is made up", async (_, answer, message) => {
    const worker = await speaking("ollama-chat", answer);
    const text = await (await chat(await runGateway({ workers: agents({ worker }) }), { stream: true })).text();
    expect(contentOf(text)).toBe("Hello");
    expect(dataOf(text).at(-1)).toMatchObject({
      error: { code: "worker_failed", message: expect.stringMatching(message) },
    });
    expect(text).not.toMatch(/\[DONE\]|"finish_reason":"/);
  });

  it("lets go of a worker that goes on after an error inside of its stream", async () => {
    const worker = await speaking("ollama-chat", ({ response }) => {
      response.writeHead(200, { "content-type": "application/x-ndjson" });
      response.write(`${JSON.stringify(HELLO)}\n{"error":"out of memory"}\n`);
    });
    const response = await chat(await runGateway({ workers: agents({ worker }) }), { stream: true });
    expect(await response.text()).toMatch(/out of memory/);
    await until("the worker sees its connection closed", () => worker.request(0).closed);
  });

  it("tells why it cannot be asked so, also where other workers do not know the model", async () => {
    const worker = await speaking("ollama-chat", hangs);
    const stranger = await fakeWorker({ other: "warm" }, refuses(404, { error: { message: "model 'm' not found" } }));
    const gateway = await runGateway({ workers: agents({ worker, stranger }) });
    expect(await errorOf(await chat(gateway, { n: 2 }))).toMatchObject({ status: 501, code: "not_supported" });
    expect(worker.asked).toHaveLength(0);
  });

  it("sets aside no more than the way that led nowhere", async () => {
    const worker = await fakeWorker({ m: "warm" }, (asked) => {
      const found = asked.path === "/api/chat" ? says({ ...HELLO, done: true }) : refuses(404, "404 page not found");
      return found(asked);
    });
    worker.figures = { m: { apis: ["chat", "ollama-chat", "completions", "ollama-generate"] } };
    const gateway = await runGateway({ workers: agents({ worker }) });
    expect((await chat(gateway)).headers.get("x-farmgate-attempts")).toBe("2");
    expect((await chat(gateway)).headers.get("x-farmgate-attempts")).toBe("1");
    expect((await post(gateway, "/v1/completions", { prompt: "Once" })).status).toBe(404);
    // Both ways are known to lead nowhere now: the worker is not asked again.
    await post(gateway, "/v1/completions", { prompt: "Once" });
    expect((await chat(gateway)).status).toBe(200);
    const paths = worker.asked.map(({ path }) => path);
    expect(paths).toEqual([
      "/v1/chat/completions",
      "/api/chat",
      "/api/chat",
      "/v1/completions",
      "/api/generate",
      "/api/chat",
    ]);
  });
});
