import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { createLog } from "@farmgate/wire";
import { describe, expect, it } from "vitest";
import { cleanup } from "../support/cleanup.ts";
import { type Asked, completes, fakeWorker, hangs } from "../support/fake-worker.ts";
import { agents, chat, errorOf, runGateway } from "../support/gateway.ts";
import { until } from "../support/until.ts";

const HEAD = "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\n";
const BODY = '{"model":"m","stream":true,"messages":[]}';

/** A caller of bare bytes, with all that it got. */
function caller(port: number, text: string): { socket: Socket; got: () => string } {
  let got = "";
  const socket = connect(port, "127.0.0.1", () => void socket.write(text));
  socket.on("data", (piece) => (got += String(piece))).on("error", () => {});
  cleanup(() => void socket.destroy());
  return { socket, got: () => got };
}

/** A log that keeps the lines of requests. */
function keptLines() {
  const log = createLog("gateway", "silent");
  const lines: Record<string, unknown>[] = [];
  log.info = (line: Record<string, unknown>) => void lines.push(line);
  return { log, lines };
}

const requestsOf = async (url: string) => {
  const { requests } = (await (await fetch(`${url}/farm/requests`)).json()) as { requests: { phase: string }[] };
  return requests;
};

describe("a farm with as many requests under way as it may have", () => {
  it("refuses the next one before its body is read, keeps its connection, and answers who asks how it is", async () => {
    const worker = await fakeWorker({ m: "warm" }, hangs);
    const gateway = await runGateway({ workers: agents({ a: worker }), limits: { requests: 2 } });
    const first = [chat(gateway), chat(gateway)];
    await until("both are at the worker", () => worker.asked.length === 2);
    // Of this body one byte will never come.
    const refused = caller(gateway.port, `${HEAD}content-length: 100\r\n\r\n${BODY}`);
    await until("it is told", () => refused.got().includes('"code":"queue_full"'));
    expect(refused.got()).toMatch(/^HTTP\/1\.1 503 [^]*retry-after: [4-7]\r\n/);
    expect(refused.got()).not.toMatch(/connection: close/i);
    for (const path of ["/livez", "/health", "/v1/models", "/farm/requests", "/metrics"]) {
      expect((await fetch(gateway.url + path)).status).toBe(200);
    }
    // What is left of the body is no request; what follows is.
    refused.socket.write(`${"x".repeat(100 - BODY.length)}GET /livez HTTP/1.1\r\nhost: x\r\n\r\n`);
    await until("the connection serves on", () => refused.got().includes("HTTP/1.1 200 "));
    await completes()(worker.request(0));
    expect((await Promise.race(first)).status).toBe(200);
    await until("there is a place", async () => (await requestsOf(gateway.url)).length === 1);
    const next = chat(gateway);
    await until("it is at the worker", () => worker.asked.length === 3);
    for (const n of [1, 2]) await completes()(worker.request(n));
    expect((await next).status).toBe(200);
  });

  it("closes the connection of a refused upload that is large", async () => {
    const gateway = await runGateway({ workers: [], keys: [{ name: "k", key: "k".repeat(20), maxConcurrent: 1 }] });
    const keyed = `${HEAD}authorization: Bearer ${"k".repeat(20)}\r\n`;
    caller(gateway.port, `${keyed}content-length: 10\r\n\r\n`);
    const arrived = async () => {
      const headers = { authorization: `Bearer ${"k".repeat(20)}` };
      return ((await (await fetch(`${gateway.url}/farm/requests`, { headers })).json()) as { requests: unknown[] })
        .requests;
    };
    await until("the first one is arriving", async () => (await arrived()).length === 1);
    const refused = caller(gateway.port, `${keyed}content-length: 50000000\r\n\r\nabc`);
    await until("it is told", () => refused.got().includes('"code":"rate_limited"'));
    expect(refused.got()).toMatch(/^HTTP\/1\.1 429 [^]*connection: close/i);
  });

  it("tells when to come again by what ends", async () => {
    const worker = await fakeWorker({ m: "warm" });
    const gateway = await runGateway({ workers: agents({ a: worker }, { maxConcurrent: 1 }), limits: { queue: 30 } });
    for (let i = 0; i < 40; i += 1) expect((await chat(gateway)).status).toBe(200);
    worker.answer = hangs;
    const waiting = Array.from({ length: 31 }, () => chat(gateway).catch(() => null));
    await until("the queue is full", async () => (await requestsOf(gateway.url)).length === 31);
    const refused = await chat(gateway);
    expect(await errorOf(refused.clone())).toMatchObject({ status: 503, code: "queue_full" });
    // Forty in about a second or a few: far from the sixty that a rate unknown to it could mean.
    expect(Number(refused.headers.get("retry-after"))).toBeLessThanOrEqual(30);
    worker.answer = completes();
    await completes()(worker.request(40));
    for (const answer of await Promise.all(waiting)) expect(answer?.status).toBe(200);
  });
});

describe("a caller who stands still", () => {
  const timeouts = { caller: "400ms" };

  it("in the middle of its request is told 408, and its key's place and memory are free", async () => {
    const { log, lines } = keptLines();
    const keys = [{ name: "k", key: "k".repeat(20), maxConcurrent: 1, admin: true }];
    const gateway = await runGateway({ workers: [], keys, timeouts }, { log });
    const headers = { authorization: `Bearer ${"k".repeat(20)}` };
    const keyed = `${HEAD}authorization: Bearer ${"k".repeat(20)}\r\n`;
    const stalled = caller(gateway.port, `${keyed}content-length: 5000\r\n\r\n${"x".repeat(4_000)}`);
    const closed = once(stalled.socket, "close");
    await until("it is told", () => stalled.got().includes('"code":"timeout_request"'));
    expect(stalled.got()).toMatch(/^HTTP\/1\.1 408 [^]*connection: close/i);
    expect(stalled.got()).toContain("Nothing of the request came for 400 ms.");
    const held = await (await fetch(`${gateway.url}/metrics`, { headers })).text();
    expect(held).toContain("farmgate_body_bytes 0");
    const next = await chat(gateway, {}, { headers });
    expect((await errorOf(next)).code).not.toBe("rate_limited");
    await closed;
    await until("the log says so", () => lines.some(({ code }) => code === "timeout_request"));
  });

  it("while its answer comes is cut off, its worker's place is free, and the log says so", async () => {
    const { log, lines } = keptLines();
    const worker = await fakeWorker({ m: "warm" }, ({ response }) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const more = () => {
        while (!response.destroyed && response.write(`data: ${"x".repeat(65_536)}\n\n`));
      };
      response.on("drain", more);
      more();
    });
    const gateway = await runGateway({ workers: agents({ a: worker }, { maxConcurrent: 1 }), timeouts }, { log });
    const lazy = connect(gateway.port, "127.0.0.1");
    lazy.on("error", () => {});
    cleanup(() => void lazy.destroy());
    lazy.pause().write(`${HEAD}content-length: ${BODY.length}\r\n\r\n${BODY}`);
    await until("it is answered", () => worker.asked.length === 1);
    await until("the worker's connection is closed", () => worker.request(0).closed);
    worker.answer = completes();
    expect((await chat(gateway)).status).toBe(200);
    await until("the log says so", () =>
      lines.some(
        ({ code, reason }) => code === "client_closed" && /took nothing of its answer for 400 ms/.test(String(reason)),
      ),
    );
  });

  it("is no caller who waits, or whose stream is slow", async () => {
    const worker = await fakeWorker({ m: "warm" }, hangs);
    const gateway = await runGateway({ workers: agents({ a: worker }), timeouts: { caller: "100ms" } });
    const answer = chat(gateway, { stream: true });
    await until("it is asked", () => worker.asked.length === 1);
    const { response } = worker.request(0);
    await new Promise((resolve) => setTimeout(resolve, 300));
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("data: 1\n\n");
    await new Promise((resolve) => setTimeout(resolve, 300));
    response.end("data: [DONE]\n\n");
    expect(await (await answer).text()).toBe("data: 1\n\ndata: [DONE]\n\n");
  });
});

describe("an empty answer", () => {
  const empty =
    (type: Record<string, string>) =>
    ({ response }: Asked) =>
      void response.writeHead(200, { "content-length": "0", ...type }).end();

  it("where JSON is due is the worker's fault, and another one is asked", async () => {
    const [broken, good] = [await fakeWorker({ m: "warm" }, empty({})), await fakeWorker({ m: "cold" })];
    const gateway = await runGateway({ workers: agents({ broken, good }) });
    const answer = await chat(gateway);
    expect([answer.status, answer.headers.get("x-farmgate-worker")]).toEqual([200, "good"]);
    good.answer = empty({ "content-type": "application/json; charset=utf-8" });
    expect(await errorOf(await chat(gateway))).toMatchObject({ status: 502, code: "worker_failed" });
  });

  it("of another kind is passed on: nothing was said", async () => {
    const worker = await fakeWorker({ m: "warm" }, empty({ "content-type": "text/plain" }));
    const gateway = await runGateway({ workers: agents({ a: worker }) });
    const answer = await chat(gateway);
    expect([answer.status, await answer.text()]).toEqual([200, ""]);
  });
});
