import { afterEach, describe, expect, it } from "vitest";
import { askChat, getJson } from "../../harness/ask.ts";
import { Cleanup, runFarmgate } from "../../harness/farmgate-process.ts";
import { startTestEngine, startTestGateway } from "../../harness/gateway-farm.ts";
import { until } from "../../harness/until.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const POLL_MS = 200;

describe("a worker whose list is good and whose chat never answers for one model", () => {
  it("is left alone for that model after three time-outs, shows it, and serves its other models", async () => {
    const models = ["m", "n"].map((name) => ({ name, loaded: true }));
    const wedged = await startTestEngine(cleanup, { models, fail: ["hang@m"] });
    const spare = await startTestEngine(cleanup, { models: ["m"], load: "50ms" });
    const { url } = await startTestGateway(
      cleanup,
      { wedged: wedged.url, spare: spare.url },
      { timeouts: { firstByte: "300ms" } },
    );
    const ask = async (model: string) => {
      const { status, headers } = await askChat(url, model, { stream: false }).answer;
      return [status, headers["x-farmgate-worker"]];
    };
    for (let i = 0; i < 3; i += 1) expect((await ask("m"))[0]).toBe(504);
    for (let i = 0; i < 5; i += 1) expect(await ask("m")).toEqual([200, "spare"]);
    for (let i = 0; i < 5; i += 1) expect(await ask("n")).toEqual([200, "wedged"]);
    expect((await getJson<{ status: string }>(`${url}/health`)).status).toBe("degraded");
    const status = cleanup.add(runFarmgate(["status", "--gateway", url]), ({ child }) => child.kill("SIGKILL"));
    await status.ended;
    expect(status.stdout()).toContain("breaker open for m");
  });
});

describe("a worker whose port is gone for a while", () => {
  it("is out after three polls, and routable again within a poll or two of its return", async () => {
    const engine = await startTestEngine(cleanup, { models: [{ name: "m", loaded: true }] });
    const { url, farm } = await startTestGateway(
      cleanup,
      { box: engine.url },
      { health: { interval: `${POLL_MS}ms`, timeout: "1s" } },
    );
    const state = async () => (await farm())[0]?.state;
    await engine.setFail(["refuse"]);
    await until(async () => (await state()) === "unhealthy", "three polls are missed");
    const away = await askChat(url, "m").answer;
    expect(away.status).toBe(503);
    const backAt = performance.now();
    await engine.setFail([]);
    await until(async () => (await state()) === "healthy", "it is healthy");
    const ms = performance.now() - backAt;
    console.log(`port gone and back: routable after ${ms.toFixed(0)} ms, a poll is ${POLL_MS} ms`);
    expect((await askChat(url, "m").answer).status).toBe(200);
    expect(ms).toBeLessThan(10 * POLL_MS);
  });
});
