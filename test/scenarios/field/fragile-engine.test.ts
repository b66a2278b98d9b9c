import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { askChat } from "../../harness/ask.ts";
import { Cleanup } from "../../harness/farmgate-process.ts";
import { freePorts } from "../../harness/free-ports.ts";
import { startTestGateway } from "../../harness/gateway-farm.ts";
import { until } from "../../harness/until.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

/** An engine that breaks every stream of its batch when one caller's connection breaks. */
async function startFragileEngine() {
  const streams = new Set<ServerResponse>();
  let crashes = 0;
  const server = createServer((request, response) => {
    request.resume();
    if (request.method === "GET") {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ object: "list", data: [{ id: "m", object: "model" }] }));
      return;
    }
    streams.add(response);
    response.on("close", () => {
      streams.delete(response);
      if (response.writableFinished) return;
      crashes += 1;
      for (const other of streams) other.socket?.resetAndDestroy();
    });
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write('data: {"piece":0}\n\n');
  });
  let pieces = 0;
  const writing = setInterval(() => {
    pieces += 1;
    for (const response of streams) response.write(`data: {"piece":${pieces}}\n\n`);
  }, 20);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanup.add(server, () => {
    clearInterval(writing);
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    streams,
    crashes: () => crashes,
    /** Ends all streams, well behind what came before. */
    async finishAll(): Promise<void> {
      const from = pieces;
      await until(() => pieces > from + 20 || crashes > 0, "more pieces are written");
      clearInterval(writing);
      for (const response of streams) response.end("data: [DONE]\n\n");
    },
  };
}

/** Two streams, of which one caller leaves; what became of the other one's. */
async function leaveOneOfTwo(url: string, engine: Awaited<ReturnType<typeof startFragileEngine>>) {
  const stays = askChat(url, "m");
  const leaves = askChat(url, "m");
  await Promise.all([stays.firstByte, leaves.firstByte]);
  expect(engine.streams.size).toBe(2);
  leaves.leave();
  await leaves.answer;
  await engine.finishAll();
  return stays.answer;
}

describe("an engine that a broken connection brings down", () => {
  const drainOnAbort = { time: "20s", bytes: "1mb" };

  it.each(["gateway", "agent"] as const)(
    "keeps its batch where the %s reads on for a caller who left",
    async (kind) => {
      const engine = await startFragileEngine();
      const url = kind === "agent" ? await startAgent(engine.url, drainOnAbort) : await route(engine.url, drainOnAbort);
      const other = await leaveOneOfTwo(url, engine);
      expect(other).toMatchObject({ status: 200, complete: true, body: expect.stringContaining("[DONE]") });
      expect(engine.crashes()).toBe(0);
      await until(
        async () => (await (await fetch(`${url}/metrics`)).text()).includes('status="499"'),
        "the one who left is counted",
      );
    },
  );

  it("loses it where that is not asked for", async () => {
    const engine = await startFragileEngine();
    const other = await leaveOneOfTwo(await route(engine.url), engine);
    expect(other.body).not.toContain("[DONE]");
    expect(engine.crashes()).toBeGreaterThan(0);
  });
});

async function route(engineUrl: string, drainOnAbort: object = {}): Promise<string> {
  const workers = [{ name: "fragile", url: engineUrl, engine: "openai", drainOnAbort }];
  return (await startTestGateway(cleanup, {}, { workers })).url;
}

async function startAgent(engineUrl: string, drainOnAbort: object): Promise<string> {
  const [port = 0] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const models = [{ name: "m", url: engineUrl, drainOnAbort }];
  await cleanup.program("agent", { listen: { port }, swap: { command: "true" }, models }, url);
  return url;
}
