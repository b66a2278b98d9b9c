import type { IncomingMessage, ServerResponse } from "node:http";
import { connect, Socket } from "node:net";
import { expect, it, onTestFinished, vi } from "vitest";
import { createSystemClock, FrontServer, isBeyondLimit, roomForCallers } from "../src/index.ts";
import { SteppedClock } from "./support/stepped-clock.ts";

const ASK = "GET / HTTP/1.1\r\nhost: x\r\n\r\n";
const soon = (holds: () => unknown) => vi.waitUntil(holds, { timeout: 60_000, interval: 5 });

async function listening(limit: number, answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const clock = new SteppedClock();
  let connections = limit;
  const limits = { body: () => 0, headers: 8_192, connections: () => connections, stallMs: () => 60_000 };
  const server = new FrontServer(limits, clock);
  server.on("request", answer);
  const { port } = await server.listenOn({ host: "127.0.0.1", port: 0 });
  onTestFinished(async () => {
    server.close();
    await server.end(0, createSystemClock());
  });
  /** Calls, and gathers what it is answered. */
  const call = (text = ASK): { socket: Socket; got: () => string } => {
    let got = "";
    const socket = connect(port, "127.0.0.1", () => void socket.write(text));
    socket.on("data", (piece) => (got += String(piece))).on("error", () => {});
    onTestFinished(() => void socket.destroy());
    return { socket, got: () => got };
  };
  return { server, clock, call, setLimit: (next: number) => (connections = next) };
}

/** Tells whether the connection is one too many; `/hold` is never answered. */
const tells = ({ socket, url }: IncomingMessage, response: ServerResponse) => {
  if (url !== "/hold") response.end(isBeyondLimit(socket) ? "beyond" : "within");
};
const HOLD = ASK.replace("/", "/hold");

it("takes a newcomer in the place of the connection that has been idle for longest", async () => {
  const { call } = await listening(3, tells);
  const callers = [call(), call(HOLD), call()];
  await soon(() => callers[0]?.got() !== "" && callers[2]?.got() !== "");
  const newcomer = call();
  await soon(() => newcomer.got().endsWith("within"));
  await soon(() => callers[0]?.socket.destroyed);
  expect(callers.map(({ socket }) => socket.destroyed)).toEqual([true, false, false]);
});

it("serves a few more where all are at work, by one answer each, and drops the rest", async () => {
  const { server, call } = await listening(3, tells);
  let held = 0;
  server.on("request", ({ url }) => (held += url === "/hold" ? 1 : 0));
  let open = 0;
  server.on("connection", (socket) => {
    open += 1;
    socket.on("close", () => (open -= 1));
  });
  for (let i = 0; i < 3; i += 1) call(HOLD);
  await soon(() => held === 3);
  const one = call();
  await soon(() => one.socket.destroyed);
  expect(one.got()).toMatch(/connection: close[^]*beyond$/i);
  await soon(() => open === 3);
  for (let i = 0; i < 64; i += 1) call(HOLD);
  await soon(() => held === 67);
  const dropped = call();
  await soon(() => dropped.socket.destroyed);
  expect(dropped.got()).toBe("");
});

it("lets one that has not asked for a while go first, and not one that has just come", async () => {
  const { server, call, clock: time } = await listening(2, tells);
  const sockets: Socket[] = [];
  server.on("connection", (socket) => sockets.push(socket));
  const silent = call("");
  await soon(() => sockets.length === 1);
  call("");
  await soon(() => sockets.length === 2);
  const early = call();
  await soon(() => early.got().endsWith("beyond"));
  time.move(6_000);
  const newcomer = call();
  await soon(() => newcomer.got().endsWith("within"));
  await soon(() => silent.socket.destroyed);
  expect(early.got()).toContain("beyond");
});

it("closes no more for a crowd that comes at once than the crowd takes", async () => {
  const { server, call } = await listening(64, tells);
  const callers = Array.from({ length: 64 }, () => call());
  await soon(() => callers.every(({ got }) => got() !== ""));
  // As connections come that are taken in one go.
  const crowd = Array.from({ length: 8 }, () => new Socket());
  onTestFinished(() => crowd.forEach((socket) => socket.destroy()));
  for (const socket of crowd) server.emit("connection", socket);
  const gone = () => callers.filter(({ socket }) => socket.destroyed).length;
  await soon(() => gone() >= 8);
  const last = call();
  await soon(() => last.got().endsWith("within"));
  expect(gone()).toBeLessThanOrEqual(11);
});

it("lets callers in again after a crowd that never asks has taken every place, the reserve's too", async () => {
  const { server, call, clock: time } = await listening(2, tells);
  let open = 0;
  server.on("connection", (socket) => {
    open += 1;
    socket.on("close", () => (open -= 1));
  });
  for (let i = 0; i < 66; i += 1) call("");
  await soon(() => open === 66);
  const early = call();
  await soon(() => early.socket.destroyed);
  expect(open).toBe(66);
  time.move(6_000);
  const first = call();
  await soon(() => first.socket.destroyed);
  await soon(() => open < 66);
  const next = call();
  await soon(() => next.got().endsWith("within"));
});

it("follows a limit that is changed", async () => {
  const { call, setLimit } = await listening(1, tells);
  const first = call();
  await soon(() => first.got().endsWith("within"));
  setLimit(2);
  const second = call();
  await soon(() => second.got().endsWith("within"));
  expect(first.socket.destroyed).toBe(false);
});

it("knows for how many callers a program has files", () => {
  expect(roomForCallers()).toBeGreaterThanOrEqual(16);
});
