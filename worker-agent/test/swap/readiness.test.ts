import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { createSystemClock } from "@farmgate/wire";
import { describe, expect, it, onTestFinished } from "vitest";
import type { ServedModel } from "../../src/served-model.ts";
import { EngineAsker } from "../../src/swap/ask-engine.ts";
import { lookReady, waitReady } from "../../src/swap/readiness.ts";

const clock = createSystemClock();
const never = new AbortController().signal;

/** An engine by hand: `answer` gives status and body of each request, or null for silence. */
async function engine(answer: (path: string, asked: number) => [number, unknown] | null) {
  const requests: string[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    requests.push(request.url ?? "");
    const told = answer(request.url ?? "", requests.length);
    if (told === null) return;
    response.writeHead(told[0], { "content-type": "application/json" });
    response.end(JSON.stringify(told[1]));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const asker = new EngineAsker(clock);
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await asker.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const model = (changes: Partial<ServedModel> = {}): ServedModel => ({
    name: "coder",
    aliases: [],
    engineName: "qwen",
    url,
    apiKey: null,
    sharesUrl: false,
    slots: 1,
    ready: "health",
    health: "/health",
    timeoutMs: 10_000,
    memoryBytes: null,
    heldBy: { kind: "script" },
    leaves: "replaced",
    stopGraceMs: 10_000,
    pinned: false,
    ttlMs: 0,
    preload: false,
    drainOnAbort: { bytes: 0, ms: 0 },
    kind: null,
    apis: null,
    engine: null,
    quantization: null,
    digest: null,
    ...changes,
  });
  return { requests, asker, model, server };
}

const list = (...data: object[]) => ({ object: "list", data });

describe("one look at a model", () => {
  it("asks the health path, and takes any 2xx", async () => {
    const { asker, model, requests } = await engine((path) =>
      path === "/ok" ? [204, ""] : [503, { error: "Loading" }],
    );
    expect(await lookReady(model({ health: "/ok" }), asker, never)).toBeNull();
    expect(await lookReady(model(), asker, never)).toBe("/health answered 503");
    expect(requests).toEqual(["/ok", "/health"]);
  });

  it("says when nothing listens, and when nothing answers in time", async () => {
    const { asker, model } = await engine(() => null);
    expect(await lookReady(model(), asker, never, 50)).toBe("/health did not answer: no answer in time");
    const gone = model({ url: "http://127.0.0.1:1" });
    expect(await lookReady(gone, asker, never)).toBe("/health did not answer: nothing listens there");
  });

  it.each<[string, object, boolean]>([
    ["names it", list({ id: "other" }, { id: "QWEN:latest" }), true],
    ["has it as an alias", list({ id: "org/qwen", aliases: ["qwen"] }), true],
    ["does not name it", list({ id: "other" }), false],
    ["shows it as loaded", list({ id: "qwen", status: { value: "loaded" } }), true],
    ["shows it as loading", list({ id: "qwen", status: { value: "loading" } }), false],
    ["shows it as unloaded", list({ id: "qwen", status: { value: "unloaded", failed: true } }), false],
    ["is empty as Ollama's", { object: "list", data: null }, false],
    ["is no list", { hello: 1 }, false],
  ])("by its engine's list, which %s", async (_what, body, ready) => {
    const { asker, model, requests } = await engine(() => [200, body]);
    const missing = await lookReady(model({ ready: "models" }), asker, never);
    expect(missing).toBe(ready ? null : "/v1/models does not name qwen as loaded");
    expect(requests).toEqual(["/v1/models"]);
  });

  it("wants the right name where two models share an address, then the health", async () => {
    let name = "other";
    const { asker, model, requests } = await engine((path) =>
      path === "/health" ? [200, {}] : [200, list({ id: name })],
    );
    expect(await lookReady(model({ sharesUrl: true }), asker, never)).toContain("does not name qwen");
    name = "qwen";
    expect(await lookReady(model({ sharesUrl: true }), asker, never)).toBeNull();
    expect(requests).toEqual(["/v1/models", "/v1/models", "/health"]);
  });

  it("by one token", async () => {
    let status = 503;
    const { asker, model, requests } = await engine(() => [status, {}]);
    expect(await lookReady(model({ ready: "generate" }), asker, never)).toBe("/v1/chat/completions answered 503");
    status = 200;
    expect(await lookReady(model({ ready: "generate" }), asker, never)).toBeNull();
    expect(requests).toEqual(["/v1/chat/completions", "/v1/chat/completions"]);
  });
});

describe("the wait for a model", () => {
  it("polls until it is ready", async () => {
    const { asker, model, requests } = await engine((_path, asked) => [asked < 4 ? 503 : 200, {}]);
    const wait = { deadline: clock.now() + 10_000, pollMs: 5, clock, signal: never };
    expect(await waitReady(model(), asker, wait)).toBeNull();
    expect(requests).toHaveLength(4);
  });

  it("ends at the deadline, and says what was missing", async () => {
    const { asker, model } = await engine(() => [503, {}]);
    const wait = { deadline: clock.now() + 500, pollMs: 10, clock, signal: never };
    const missing = await waitReady(model({ timeoutMs: 500 }), asker, wait);
    expect(missing).toMatch(/^http:.* was not ready within 500 ms: \/health answered 503$/);
  });

  it("ends when the agent stops, even in the middle of a look", async () => {
    const stop = new AbortController();
    const { asker, model } = await engine(() => {
      stop.abort();
      return null;
    });
    const wait = { deadline: clock.now() + 60_000, pollMs: 60_000, clock, signal: stop.signal };
    expect(await waitReady(model(), asker, wait)).toBe("the wait was stopped");
  });
});
