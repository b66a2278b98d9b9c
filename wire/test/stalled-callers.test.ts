import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createSystemClock, FrontServer, onStalled } from "../src/index.ts";
import { SteppedClock } from "./support/stepped-clock.ts";

const STALL_MS = 1_000;
const HEAD = "POST / HTTP/1.1\r\nhost: x\r\n";

async function listening(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const clock = new SteppedClock();
  const limits = { body: () => 1_000, headers: 32_768, connections: () => 100, stallMs: () => STALL_MS };
  const server = new FrontServer(limits, clock);
  const open: ServerResponse[] = [];
  const told: string[] = [];
  server.on("request", (request, response) => {
    open.push(response);
    onStalled(response, (stall) => told.push(stall));
    answer(request, response);
  });
  const { port } = await server.listenOn({ host: "127.0.0.1", port: 0 });
  onTestFinished(async () => {
    server.close();
    await server.end(0, createSystemClock());
  });
  const call = (text: string): Socket => {
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: false });
    socket.on("error", () => {});
    onTestFinished(() => void socket.destroy());
    socket.write(text);
    return socket;
  };
  return { server, clock, open, told, call };
}

const soon = (holds: () => unknown) => vi.waitUntil(holds, { timeout: 60_000, interval: 5 });

/** Answers by so much that no system's buffers hold it. */
const floods = (_request: IncomingMessage, response: ServerResponse) => void response.end(Buffer.alloc(64_000_000));

describe("a caller who sends nothing more of a request", () => {
  it("is told of, and cut off where nobody answers it", async () => {
    const { clock, open, told, call } = await listening((request) => request.resume());
    const socket = call(`${HEAD}content-length: 10\r\n\r\n123`);
    const closed = once(socket, "close");
    socket.resume();
    await soon(() => open.length === 1);
    clock.move(STALL_MS);
    expect(told).toEqual([]);
    clock.move(STALL_MS / 2);
    expect(told).toEqual(["sending"]);
    clock.move(STALL_MS / 4);
    await closed;
    expect(told).toEqual(["sending"]);
  });

  it("is left alone while a byte comes now and then, or all of it has come and the answer takes its time", async () => {
    const { clock, open, told, call } = await listening((request) => request.resume());
    const slow = call(`${HEAD}content-length: 10\r\n\r\n`);
    call(`${HEAD}content-length: 2\r\n\r\nab`);
    await soon(() => open.length === 2);
    for (let n = 1; n <= 8; n += 1) {
      slow.write("x");
      await soon(() => open.some(({ req }) => req.socket.bytesRead === HEAD.length + 22 + n));
      clock.move(STALL_MS * 0.7);
    }
    expect(told).toEqual([]);
  });
});

describe("a caller who reads nothing of its answer", () => {
  it("is told of and cut off, also when the answer is complete already", async () => {
    const { clock, open, told, call } = await listening(floods);
    const socket = call(`${HEAD}content-length: 0\r\n\r\n`).pause();
    await soon(() => (open[0]?.socket?.writableLength ?? 0) > 0);
    clock.move(STALL_MS * 1.5);
    expect(told).toEqual(["reading"]);
    await soon(() => open[0]?.destroyed);
    socket.destroy();
  });

  it("is left alone while it takes something now and then", async () => {
    const { clock, open, told, call } = await listening(floods);
    const socket = call(`${HEAD}content-length: 0\r\n\r\n`).pause();
    await soon(() => (open[0]?.socket?.writableLength ?? 0) > 0);
    for (let n = 0; n < 4; n += 1) {
      // More than the system holds for both sides, or the server knows nothing of it.
      const before = socket.bytesRead;
      socket.resume();
      await soon(() => socket.bytesRead > before + 8_000_000);
      socket.pause();
      clock.move(STALL_MS * 0.7);
    }
    expect(told).toEqual([]);
  });
});

it("a WebSocket may be silent as long as it likes, and is cut off when nothing of it is taken", async () => {
  const { server, clock, told, call } = await listening(() => {});
  const sockets: Socket[] = [];
  server.onWebSocket((caller) => {
    onStalled(caller.response, (stall) => told.push(stall));
    sockets.push(caller.switch(["connection", "Upgrade", "upgrade", "websocket"]));
  });
  const upgrade = "GET / HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n";
  const lazy = call(upgrade).pause();
  await soon(() => sockets.length === 1);
  clock.move(STALL_MS * 5);
  expect(told).toEqual([]);
  sockets[0]?.write(Buffer.alloc(64_000_000));
  await new Promise((resolve) => setImmediate(resolve));
  clock.move(STALL_MS * 1.5);
  await soon(() => sockets[0]?.destroyed);
  expect(told).toEqual(["reading"]);
  lazy.destroy();
});

it("callers who keep their connections for the next request are no trouble, and without any nothing looks", async () => {
  const { clock, open, told, call } = await listening((_request, response) => void response.end("ok"));
  const socket = call(`${HEAD}content-length: 0\r\n\r\n`);
  await once(socket, "data");
  clock.move(STALL_MS * 5);
  expect(told).toEqual([]);
  expect(socket.closed).toBe(false);
  const closed = once(socket, "close");
  socket.end();
  socket.resume();
  await closed;
  await soon(() => open[0]?.socket === null || open[0]?.req.socket.destroyed);
  await new Promise((resolve) => setImmediate(resolve));
  clock.move(STALL_MS);
  expect(clock.pending).toBe(0);
});
