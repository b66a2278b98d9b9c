import { type AddressInfo, createServer } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { askChat, getJson } from "../../harness/ask.ts";
import { Cleanup } from "../../harness/farmgate-process.ts";
import { freePorts } from "../../harness/free-ports.ts";
import { startTestEngine, startTestGateway } from "../../harness/gateway-farm.ts";
import { until } from "../../harness/until.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const LOADED = { models: [{ name: "m", loaded: true }], tokensPerSecond: 200 };

/** A machine that takes connections and never says a word. */
async function startBlackHole(): Promise<string> {
  const server = createServer(() => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanup.add(server, () => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("six streams at two workers of two slots each", () => {
  it("all end whole, three at each", async () => {
    const [a, b] = [await startTestEngine(cleanup, LOADED), await startTestEngine(cleanup, LOADED)];
    const { url } = await startTestGateway(cleanup, { a: a.url, b: b.url });
    const answers = await Promise.all(Array.from({ length: 6 }, (_, seed) => askChat(url, "m", { seed }).answer));
    for (const { status, body } of answers) {
      expect(status).toBe(200);
      expect(body.endsWith("data: [DONE]\n\n")).toBe(true);
    }
    const at = (name: string) => answers.filter(({ headers }) => headers["x-farmgate-worker"] === name).length;
    expect([at("a"), at("b")]).toEqual([3, 3]);
  });
});

describe("a machine that takes connections and never says a word", () => {
  it("delays neither the list of models nor what another one answers", async () => {
    const good = await startTestEngine(cleanup, LOADED);
    const [port = 0] = await freePorts(1);
    const url = `http://127.0.0.1:${port}`;
    const workers = [
      { name: "hole", url: await startBlackHole(), engine: "openai" },
      { name: "good", url: good.url },
    ];
    await cleanup.program("gateway", { listen: { port }, health: { interval: "100ms", timeout: "2s" }, workers }, url);
    const list = () => getJson<{ data: { id: string }[] }>(`${url}/v1/models`);
    await until(async () => (await list()).data.length === 1, "the other one's model is listed");
    let slowestMs = 0;
    for (let i = 0; i < 30; i += 1) {
      const began = performance.now();
      expect((await list()).data[0]?.id).toBe("m");
      slowestMs = Math.max(slowestMs, performance.now() - began);
      const { status, headers } = await askChat(url, "m", { max_tokens: 1 }).answer;
      expect([status, headers["x-farmgate-worker"]]).toEqual([200, "good"]);
    }
    console.log(`beside a black hole: the list of models came within ${slowestMs.toFixed(0)} ms`);
    expect(slowestMs).toBeLessThan(1_500);
  });
});
