import { afterEach, describe, expect, it } from "vitest";
import { askChat } from "../../harness/ask.ts";
import { startDroppingProxy } from "../../harness/dropping-proxy.ts";
import { Cleanup } from "../../harness/farmgate-process.ts";
import { startTestEngine, startTestGateway } from "../../harness/gateway-farm.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

/** Longer than a connection to a worker is kept unused, in milliseconds. */
const LONGER_THAN_KEPT = 4_300;

async function behindProxy(config: object = {}) {
  const models = [{ name: "m", loaded: true }];
  const engine = await startTestEngine(cleanup, { models, tokensPerSecond: 40, slots: 16 });
  const proxy = await startDroppingProxy(cleanup, engine.url);
  const farm = await startTestGateway(
    cleanup,
    { box: proxy.url },
    { health: { interval: "200ms", timeout: "300ms" }, ...config },
  );
  const ask = (tokens = 2) => askChat(farm.url, "m", { max_tokens: tokens });
  expect((await ask().answer).status).toBe(200);
  return { ...farm, proxy, ask };
}

describe("a connection whose packets are dropped without a word", () => {
  it("is told in the phase where it goes silent, and nothing after it goes there", async () => {
    const timeouts = { firstByte: "500ms", idle: "500ms" };
    const { ask, proxy, farm } = await behindProxy({ timeouts });
    const [kept, running] = [ask(), ask(400)];
    await kept.answer;
    await running.firstByte;
    proxy.forget();
    const silent = await ask().answer;
    expect([silent.status, silent.body]).toEqual([504, expect.stringContaining("timeout_first_byte")]);
    expect((await running.answer).body).toMatch(/data: \{"error":.*"code":"timeout_idle"/);
    for (let i = 0; i < 5; i += 1) expect((await ask().answer).status).toBe(200);
    expect((await farm()).map(({ state, inflight }) => [state, inflight])).toEqual([["healthy", 0]]);
  });

  it("is not used again once it was idle: the next request has a new one, at the first try", async () => {
    const { ask, proxy } = await behindProxy();
    await new Promise((resolve) => setTimeout(resolve, LONGER_THAN_KEPT));
    proxy.forget();
    const { status, headers } = await ask().answer;
    expect([status, headers["x-farmgate-attempts"]]).toEqual([200, "1"]);
  });
});
