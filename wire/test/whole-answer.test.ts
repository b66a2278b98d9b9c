import { getEventListeners } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { Agent } from "undici";
import { expect, it, onTestFinished } from "vitest";
import { createSystemClock } from "../src/system-clock.ts";
import { type WholeLimits, wholeAnswer } from "../src/whole-answer.ts";

const clock = createSystemClock();
const LIMITS: WholeLimits = { ms: 20_000, bytes: 1_000 };

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function ask(origin: string, limits: Partial<WholeLimits> = {}, headers: string[] = []) {
  const agent = new Agent();
  onTestFinished(() => agent.destroy());
  const stop = new AbortController();
  const request = { origin, method: "GET", path: "/", headers, body: null };
  return { answer: wholeAnswer(agent, clock, request, { ...LIMITS, ...limits }, stop.signal), stop };
}

it("brings a whole answer, whatever its status", async () => {
  const origin = await serve((_, response) => response.writeHead(503).end("busy"));
  const { answer, stop } = ask(origin);
  expect(await answer).toMatchObject({ head: { status: 503 }, body: Buffer.from("busy"), cut: null });
  expect(getEventListeners(stop.signal, "abort")).toEqual([]);
});

it("ends a body that is too large, or trickles on beyond its time, with what came of it", async () => {
  const endless = await serve((_, response) => {
    response.write("x".repeat(900));
    const timer = setInterval(() => response.write("x"), 5);
    response.on("close", () => clearInterval(timer));
  });
  expect(await ask(endless).answer).toMatchObject({ head: { status: 200 }, cut: "large" });
  const slow = await ask(endless, { ms: 1_000, bytes: 1_000_000 }).answer;
  expect(slow).toMatchObject({ head: { status: 200 }, cut: "slow" });
  expect(slow.body.length).toBeGreaterThanOrEqual(900);
});

it("is stopped before an answer has come", async () => {
  const origin = await serve(() => stop.abort());
  const { answer, stop } = ask(origin);
  expect(await answer).toMatchObject({ head: null, cut: "stopped" });
});

it("says why nobody answered", async () => {
  const { answer } = ask("http://127.0.0.1:9");
  expect(await answer).toMatchObject({ head: null, cut: { kind: "refused" } });
});

it("is over at once, and leaves nothing behind, for a request that no client takes", async () => {
  const { answer, stop } = ask("http://127.0.0.1:9", {}, ["x", "two\nlines"]);
  expect(await answer).toMatchObject({ head: null, cut: { phase: "connect" } });
  expect(getEventListeners(stop.signal, "abort")).toEqual([]);
});
