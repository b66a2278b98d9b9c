import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import type { Clock } from "@farmgate/shared";
import { createLog, createSystemClock } from "@farmgate/wire";
import { expect, it, onTestFinished } from "vitest";
import { startRig } from "./support/agent-rig.ts";
import { until } from "./support/conditions.ts";

const HEAD = "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\n";
const BODY = '{"model":"a","stream":true,"messages":[]}';

/** Ten minutes pass in a second. */
const SPEED = 600;
const real = createSystemClock();
const fast: Clock = {
  now: () => real.now() * SPEED,
  wall: () => real.wall(),
  after: (ms, fn) => real.after(ms / SPEED, fn),
};

/** An engine whose answers never end. */
async function floodingEngine(): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    if (request.method !== "POST") return void response.end("{}");
    response.writeHead(200, { "content-type": "text/event-stream" });
    const more = () => {
      while (!response.destroyed && response.write(`data: ${"x".repeat(65_536)}\n\n`));
    };
    response.on("drain", more);
    more();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function call(port: number, text: string): { socket: Socket; got: () => string } {
  let got = "";
  const socket = connect(port, "127.0.0.1", () => void socket.write(text));
  socket.on("data", (piece) => (got += String(piece))).on("error", () => {});
  onTestFinished(() => void socket.destroy());
  return { socket, got: () => got };
}

it("a caller who stands still loses its place, while it sends as while it reads, and the log says so", async () => {
  const url = await floodingEngine();
  const log = createLog("agent", "silent");
  const errors: unknown[] = [];
  log.info = (line: { error?: string }) => void errors.push(line.error);
  const config = { models: [{ name: "a", url, slots: 1 }], swap: { timeout: "1800s", poll: "3s" } };
  const { agent } = await startRig({ config, script: "#!/bin/sh\nexit 0\n", log, clock: fast });
  const port = Number(new URL(agent.url).port);
  const sending = call(port, `${HEAD}content-length: 5000\r\n\r\n${BODY}`);
  const reading = call(port, `${HEAD}content-length: ${BODY.length}\r\n\r\n${BODY}`);
  reading.socket.pause();
  await until(() => sending.got().includes('"code":"timeout_request"'));
  expect(sending.got()).toMatch(/^HTTP\/1\.1 408 /);
  const inflight = async () => ((await (await fetch(`${agent.url}/health`)).json()) as { inflight: number }).inflight;
  await until(async () => errors.includes("the caller took nothing of its answer") && (await inflight()) === 0);
});
