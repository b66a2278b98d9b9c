import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { seededRandom } from "@farmgate/shared";
import { createLog, createSystemClock } from "@farmgate/wire";
import { describe, expect, it, onTestFinished } from "vitest";
import { json, rawServer } from "../../test/harness/hostile-server.ts";
import { agentConfigSchema, startAgent } from "../src/index.ts";
import { tempDirectory } from "./support/agent-rig.ts";
import { until } from "./support/conditions.ts";

const pem = (name: string) => readFileSync(new URL(`../../test/fixtures/tls/${name}`, import.meta.url), "utf8");
const GOOD = { id: "x", choices: [] };
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

async function attached(url: string, more: object = {}) {
  const config = agentConfigSchema.parse({
    name: "box",
    listen: { port: 0 },
    engines: [{ url, engine: "vllm", poll: "50ms", ...more }],
    drain: "1s",
  });
  const [clock, log] = [createSystemClock(), createLog("agent", "silent")];
  const directory = await tempDirectory();
  const agent = await startAgent({
    config,
    directory,
    environment: {},
    clock,
    random: seededRandom(1),
    log,
    version: "0",
  });
  onTestFinished(() => agent.close());
  const get = async (path: string) => (await fetch(agent.url + path)).text();
  return {
    get,
    models: async () => (JSON.parse(await get("/catalog")) as { models: { id: string }[] }).models.map(({ id }) => id),
    state: async () => (JSON.parse(await get("/health")) as { engines: { state: string }[] }).engines[0]?.state ?? "",
    chat: (model: string) =>
      fetch(`${agent.url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model, messages: [] }),
      }),
  };
}

describe("an engine that was made to do harm", () => {
  it("is told by its state when its list is too large, nested, or no HTTP, and comes back", async () => {
    const engine = await rawServer(() => json({ data: [{ id: "m" }] }));
    const agent = await attached(engine.url);
    await until(async () => (await agent.models()).join() === "m");
    for (const [list, problem] of [
      [json(`{"data":[{"id":"m","x":"${"a".repeat(9 * 1_024 ** 2)}"}]}`), /over 8 MB/],
      [json(`${"[".repeat(10_000)}${"]".repeat(10_000)}`), /something else than vllm's list/],
      [Buffer.from("\u001b[31mred\r\n\r\n"), /HPE_|HTTPParser/],
    ] as const) {
      engine.list = () => list;
      await until(async () => problem.test(await agent.state()));
      expect(await agent.state()).toMatch(/^[ -~]{1,300}$/);
      engine.list = () => json({ data: [{ id: "m" }] });
      await until(async () => (await agent.state()) === "up");
    }
    expect((await agent.chat("m")).status).toBe(200);
  });

  it("lists names that harm nobody", async () => {
    const names = ["fine", "__proto__", "constructor", "a\u001b[31m", "b\nc", "x".repeat(10_000), '"} 1\nevil{a="'];
    const data = names.map((id) => ({ id, aliases: [id, 1], meta: { n_ctx: -1 }, max_model_len: "x" }));
    const engine = await rawServer(() => json({ data }));
    engine.answer = () => json(GOOD);
    const agent = await attached(engine.url);
    await until(async () => (await agent.models()).length > 0);
    expect((await agent.models()).toSorted()).toEqual(["__proto__", "constructor", "fine"]);
    for (const model of ["__proto__", "constructor"]) expect((await agent.chat(model)).status).toBe(200);
    expect((await agent.chat("toString")).status).toBe(404);
    for (const path of ["/catalog", "/health", "/v1/models"]) expect(await agent.get(path)).not.toMatch(CONTROL);
    for (const line of (await agent.get("/metrics")).split("\n")) expect(line).toMatch(/^(#.*|[a-z_]+(\{.*\})? \S+|)$/);
  });

  it("gets a told error for each answer that is no HTTP, and the next one is served", async () => {
    const engine = await rawServer(() => json({ data: [{ id: "m" }] }));
    const agent = await attached(engine.url);
    await until(async () => (await agent.models()).length > 0);
    const answers = [
      "HTTP/1.1 000 X\r\ncontent-length: 0\r\n\r\n",
      `HTTP/1.1 200 OK\r\nx: ${"a".repeat(1_048_576)}\r\n\r\n`,
      "HTTP/1.1 200 OK\r\nx: a\rb: c\r\n\r\n",
      "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(20_000),
      "\u0000\u0001nonsense\r\n",
      "",
    ];
    for (const bytes of answers) {
      engine.answer = () => bytes;
      const answer = await agent.chat("m");
      expect.soft(answer.status, bytes.slice(0, 40)).toBe(502);
      expect.soft(await answer.text()).toMatch(/^[ -~]{1,500}$/);
      engine.answer = () => json(GOOD, "x-farmgate-worker: me\r\nset-cookie: a=b\r\n");
      const next = await agent.chat("m");
      expect.soft([next.status, next.headers.get("set-cookie")]).toEqual([200, null]);
      expect.soft(next.headers.get("x-farmgate-worker")).not.toBe("me");
    }
  });
});

describe("an engine by HTTPS", () => {
  async function secure(certificate: string): Promise<string> {
    const server = createServer({ cert: pem(`${certificate}.pem`), key: pem(`${certificate}.key.pem`) });
    server.on("request", (request, response) => {
      response.setHeader("content-type", "application/json");
      request.on("end", () => response.end(JSON.stringify({ data: [{ id: "m" }], ...GOOD }))).resume();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  it("is listed and asked under its own authority", async () => {
    const agent = await attached(await secure("server"), { ca: pem("authority.pem") });
    await until(async () => (await agent.models()).length > 0);
    expect((await agent.chat("m")).status).toBe(200);
  });

  it("is refused with the reason when nobody trusts its certificate", async () => {
    const agent = await attached(await secure("self-signed"));
    await until(async () => /signed by itself .*set `ca`/.test(await agent.state()));
    expect(await agent.models()).toEqual([]);
  });
});
