import { afterEach, describe, expect, it } from "vitest";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentHealth } from "../harness/agent-farm.ts";
import { askChat, getJson } from "../harness/ask.ts";
import { Cleanup } from "../harness/farmgate-process.ts";
import { freePorts } from "../harness/free-ports.ts";
import { startTestEngine, startTestGateway } from "../harness/gateway-farm.ts";
import { until } from "../harness/until.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

/** Gateway and agent as processes before two engines; the script takes as long as `swapSeconds` and loads nothing. */
async function startChain(speed: { prompt: number; tokens: number }, swapSeconds = 0) {
  const settings = {
    promptTokensPerSecond: speed.prompt,
    tokensPerSecond: speed.tokens,
    slots: 1,
    single: true,
    load: "0ms",
  };
  const engines = {
    a: await startTestEngine(cleanup, { ...settings, models: ["a"] }),
    b: await startTestEngine(cleanup, { ...settings, models: ["b"] }),
  };
  const script = join(await cleanup.folder(), "swap.sh");
  await writeFile(script, `#!/bin/sh\nif [ "$1" = b ]; then sleep ${swapSeconds}; fi\n`, { mode: 0o755 });
  const [port = 0] = await freePorts(1);
  const agentUrl = `http://127.0.0.1:${port}`;
  await cleanup.program(
    "agent",
    {
      name: "box",
      listen: { port },
      swap: { command: script, poll: "20ms" },
      models: Object.entries(engines).map(([name, { url }]) => ({ name, url, slots: 1 })),
    },
    agentUrl,
  );
  await fetch(`${agentUrl}/models/a/load`, { method: "POST" });
  const health = () => getJson<AgentHealth>(`${agentUrl}/health`);
  await until(async () => (await health()).model === "a", "a is loaded");
  const { url } = await startTestGateway(cleanup, { box: agentUrl });
  return { engines, url, health };
}

/** From the caller's close until `gone`, in milliseconds. */
async function timeUntil(gone: () => boolean | Promise<boolean>, leave: () => void): Promise<number> {
  const leftAt = performance.now();
  leave();
  await until(gone, "the request is gone");
  return performance.now() - leftAt;
}

const CEILING_MS = 1_000;

describe("a caller who leaves", () => {
  it.each([
    { phase: "before headers", speed: { prompt: 10, tokens: 50 }, streaming: false },
    { phase: "mid-stream", speed: { prompt: 0, tokens: 20 }, streaming: true },
  ])("closes the engine's connection $phase", async ({ phase, speed, streaming }) => {
    const { engines, url } = await startChain(speed);
    const messages = [{ role: "user", content: "word ".repeat(400) }];
    const asked = askChat(url, "a", { messages, max_tokens: 400 });
    await (streaming ? asked.firstByte : until(() => engines.a.stats.active === 1, "the engine has it"));
    const ms = await timeUntil(() => engines.a.stats.left === 1 && engines.a.stats.active === 0, asked.leave);
    console.log(`cancel ${phase}: engine's connection closed after ${ms.toFixed(1)} ms`);
    expect(ms).toBeLessThan(CEILING_MS);
  });

  it("is gone from the queue and causes no swap", async () => {
    const { engines, url, health } = await startChain({ prompt: 0, tokens: 20 });
    const running = askChat(url, "a", { max_tokens: 40 });
    await running.firstByte;
    const waiting = askChat(url, "b");
    await until(async () => (await health()).queue_depth === 1, "b waits");
    const { swaps } = await health();
    const ms = await timeUntil(async () => (await health()).queue_depth === 0, waiting.leave);
    console.log(`cancel queued: gone after ${ms.toFixed(1)} ms`);
    expect((await running.answer).body).toContain("[DONE]");
    expect((await health()).swaps).toBe(swaps);
    expect(engines.b.stats.served + engines.b.stats.left).toBe(0);
    expect(ms).toBeLessThan(CEILING_MS);
  });

  it("is gone while the swap runs, and nothing reaches the engine afterwards", async () => {
    const { engines, url, health } = await startChain({ prompt: 0, tokens: 20 }, 1);
    const waiting = askChat(url, "b");
    await until(async () => (await health()).model === null, "the swap runs");
    expect((await health()).queue_depth).toBe(1);
    const ms = await timeUntil(async () => (await health()).queue_depth === 0, waiting.leave);
    console.log(`cancel swapping: gone after ${ms.toFixed(1)} ms`);
    await until(async () => (await health()).model === "b", "the swap has ended");
    expect(engines.b.stats.served + engines.b.stats.left).toBe(0);
    expect(ms).toBeLessThan(CEILING_MS);
  });
});
