import { connect, type Socket } from "node:net";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { RunningGateway } from "../../src/index.ts";
import { cleanup } from "../support/cleanup.ts";
import { type Asked, type FakeWorker, fakeWorker, hangs } from "../support/fake-worker.ts";
import { agents, chat, errorOf, runGateway } from "../support/gateway.ts";
import { until } from "../support/until.ts";

/** Generous: it is milliseconds on an idle machine. */
const CEILING_MS = 1_000;

function post(gateway: RunningGateway, stream = true): Socket {
  const body = JSON.stringify({ model: "m", stream });
  const socket = connect(gateway.port, "127.0.0.1");
  socket.on("error", () => {});
  socket.write(`POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  cleanup(() => socket.destroy());
  return socket;
}

async function requests(gateway: RunningGateway): Promise<{ id: string; phase: string; worker: string | null }[]> {
  const answer = (await (await fetch(`${gateway.url}/farm/requests`)).json()) as { requests: never[] };
  return answer.requests;
}

async function asked(worker: FakeWorker, n = 1): Promise<Asked> {
  await until("the worker is asked", () => worker.asked.length >= n);
  return worker.request(n - 1);
}

const streams = ({ response }: Asked) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write("data: 1\n\n");
};

describe("a caller who leaves", () => {
  const ways: [string, (socket: Socket) => void][] = [
    ["by closing", (socket) => socket.destroy()],
    ["by closing its own half", (socket) => socket.end()],
  ];
  it.each(ways)("%s before the first byte ends the worker's work", async (_way, leave) => {
    const worker = await fakeWorker({ m: "warm" }, hangs);
    const gateway = await runGateway({ workers: agents({ a: worker }) });
    const socket = post(gateway);
    const got = await asked(worker);
    leave(socket);
    await until("the worker sees the close", () => got.closed, CEILING_MS);
    await until("the request is gone", async () => (await requests(gateway)).length === 0, CEILING_MS);
    expect(worker.asked).toHaveLength(1);
  });

  it.each(ways)("%s in the middle of a stream ends the worker's work", async (_way, leave) => {
    const worker = await fakeWorker({ m: "warm" }, streams);
    const gateway = await runGateway({ workers: agents({ a: worker }) });
    const socket = post(gateway);
    const got = await asked(worker);
    await new Promise((resolve) => socket.once("data", resolve));
    leave(socket);
    await until("the worker sees the close", () => got.closed, CEILING_MS);
    expect(worker.asked).toHaveLength(1);
  });

  it("by closing its own half without reading what it is sent ends the worker's work", async () => {
    let sent = 0;
    const worker = await fakeWorker({ m: "warm" }, ({ response }) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const piece = Buffer.alloc(256 * 1_024, "x");
      const push = () => {
        do sent += piece.length;
        while (!response.destroyed && response.write(piece));
      };
      response.on("drain", push);
      push();
    });
    const gateway = await runGateway({ workers: agents({ a: worker }) });
    const socket = post(gateway);
    socket.pause();
    const got = await asked(worker);
    await until("every buffer on the way is full", async () => {
      const before = sent;
      await pause(200);
      return sent === before;
    });
    socket.end();
    await until("the worker sees the close", () => got.closed, CEILING_MS);
    await until("the request is gone", async () => (await requests(gateway)).length === 0, CEILING_MS);
    expect(worker.asked).toHaveLength(1);
  });

  it("while a connection is made never reaches the worker", async () => {
    let bytes = "";
    // It never answers a TLS greeting, so that connections to it are never made.
    const server = createServer((socket) => {
      socket.on("error", () => {});
      socket.on("data", (data) => {
        bytes += data.toString("latin1");
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    cleanup(() => server.close());
    const { port } = server.address() as AddressInfo;
    const gateway = await runGateway({
      health: { interval: "60s", timeout: "50ms" },
      timeouts: { connect: "20s" },
      workers: [{ name: "a", url: `https://127.0.0.1:${port}`, engine: "openai" }],
    });
    const socket = post(gateway);
    await until("it is under way", async () => (await requests(gateway)).some(({ phase }) => phase === "asking"));
    socket.destroy();
    await until("the request is gone", async () => (await requests(gateway)).length === 0, CEILING_MS);
    expect(bytes).not.toContain("POST");
  });

  it("while the first catalogues are fetched is forgotten at once", async () => {
    const worker = await fakeWorker({});
    worker.catalogStatus = 0;
    const gateway = await runGateway({
      workers: agents({ a: worker }),
      health: { interval: "60s", timeout: "30s" },
    });
    const socket = post(gateway);
    await until("it waits", async () => (await requests(gateway)).some(({ phase }) => phase === "waiting"));
    socket.destroy();
    await until("it is gone", async () => (await requests(gateway)).length === 0, CEILING_MS);
    expect(worker.asked).toHaveLength(0);
  });

  it("while waiting for a worker leaves the queue", async () => {
    const worker = await fakeWorker({ m: "warm" }, hangs);
    const gateway = await runGateway({ workers: agents({ a: worker }, { maxConcurrent: 1 }) });
    post(gateway);
    await asked(worker);
    const socket = post(gateway);
    await until("it waits", async () => (await requests(gateway)).some(({ phase }) => phase === "waiting"));
    socket.end();
    await until("it is gone", async () => (await requests(gateway)).length === 1, CEILING_MS);
    expect(worker.asked).toHaveLength(1);
  });

  it("while still sending its request is forgotten", async () => {
    const gateway = await runGateway({});
    const socket = connect(gateway.port, "127.0.0.1");
    socket.on("error", () => {});
    socket.write('POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{"model"');
    await until("it is under way", async () => (await requests(gateway)).some(({ phase }) => phase === "receiving"));
    socket.destroy();
    await until("it is gone", async () => (await requests(gateway)).length === 0, CEILING_MS);
    expect((await fetch(`${gateway.url}/livez`)).status).toBe(200);
  });

  it("is counted as 499", async () => {
    const worker = await fakeWorker({ m: "warm" }, hangs);
    const gateway = await runGateway({ workers: agents({ a: worker }) });
    const socket = post(gateway);
    await asked(worker);
    socket.destroy();
    const metrics = async () => (await fetch(`${gateway.url}/metrics`)).text();
    await until("it is counted", async () => (await metrics()).includes('status="499"'), CEILING_MS);
    expect(await metrics()).toContain(
      'farmgate_requests_total{api="chat",model="m",worker="a",status="499",warmth="warm"} 1',
    );
  });
});

describe("a request that an operator cancels", () => {
  it("is told so before the first byte", async () => {
    const worker = await fakeWorker({ m: "warm" }, hangs);
    const gateway = await runGateway({ workers: agents({ a: worker }) });
    const response = chat(gateway, {}, { headers: { "x-request-id": "long-one" } });
    const got = await asked(worker);
    const deleted = await fetch(`${gateway.url}/farm/requests/long-one`, { method: "DELETE" });
    expect(deleted.status).toBe(200);
    expect(await errorOf(await response)).toMatchObject({ status: 499, code: "cancelled" });
    await until("the worker sees the close", () => got.closed, CEILING_MS);
    expect((await fetch(`${gateway.url}/farm/requests/long-one`, { method: "DELETE" })).status).toBe(404);
  });

  it("is told so while it is still being sent", async () => {
    const gateway = await runGateway({});
    const socket = connect(gateway.port, "127.0.0.1");
    const head = "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nx-request-id: up1\r\ncontent-length: 1000\r\n\r\n";
    socket.write(`${head}{"model"`);
    await until("it is under way", async () => (await requests(gateway)).some(({ phase }) => phase === "receiving"));
    const told = new Promise<string>((resolve) => socket.once("data", (data) => resolve(String(data))));
    await fetch(`${gateway.url}/farm/requests/up1`, { method: "DELETE" });
    expect(await told).toMatch(/^HTTP\/1\.1 499 [^]*"code":"cancelled"/);
    socket.destroy();
  });

  it("is told so inside its stream", async () => {
    const worker = await fakeWorker({ m: "warm" }, streams);
    const gateway = await runGateway({ workers: agents({ a: worker }) });
    const response = await chat(gateway, { stream: true }, { headers: { "x-request-id": "s1" } });
    await fetch(`${gateway.url}/farm/requests/s1`, { method: "DELETE" });
    expect(await response.text()).toContain('"code":"cancelled"');
  });

  it("is told so while it waits", async () => {
    const worker = await fakeWorker({ m: "warm" }, hangs);
    const gateway = await runGateway({ workers: agents({ a: worker }, { maxConcurrent: 1 }) });
    post(gateway);
    await asked(worker);
    const response = chat(gateway, {}, { headers: { "x-request-id": "w1" } });
    await until("it waits", async () => (await requests(gateway)).some(({ phase }) => phase === "waiting"));
    await fetch(`${gateway.url}/farm/requests/w1`, { method: "DELETE" });
    expect((await errorOf(await response)).code).toBe("cancelled");
  });
});
