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
  const agent = await cleanup.program(
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
  const { gateway, url } = await startTestGateway(cleanup, { box: agentUrl });
  /** Waits until both programs have told of one caller who left, in their logs. */
  const toldAsLeft = () =>
    until(
      () => [agent, gateway].every((program) => program.stdout().match(/"status":499\b/g)?.length === 1),
      "both logs tell of 499",
    );
  return { engines, url, health, toldAsLeft };
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
    { phase: "before headers, as the prompt is read", speed: { prompt: 100, tokens: 50 }, stream: true, begun: false },
    { phase: "mid-stream", speed: { prompt: 0, tokens: 20 }, stream: true, begun: true },
    { phase: "without a stream", speed: { prompt: 0, tokens: 20 }, stream: false, begun: false },
  ])("closes the engine's connection $phase, and frees its slot", async ({ phase, speed, stream, begun }) => {
    const { engines, url, health, toldAsLeft } = await startChain(speed);
    const messages = [{ role: "user", content: "word ".repeat(4_000) }];
    const asked = askChat(url, "a", { messages, max_tokens: 400, stream });
    await (begun ? asked.firstByte : until(() => engines.a.stats.active === 1, "the engine has it"));
    const ms = await timeUntil(() => engines.a.stats.left === 1 && engines.a.stats.active === 0, asked.leave);
    console.log(`cancel ${phase}: engine's connection closed after ${ms.toFixed(1)} ms`);
    expect(ms).toBeLessThan(CEILING_MS);
    await toldAsLeft();
    expect((await health()).inflight).toBe(0);
    const next = askChat(url, "a", { messages: [{ role: "user", content: "Hi" }], max_tokens: 1 });
    expect((await next.answer).body).toContain("[DONE]");
  });

  it("is gone from the queue and causes no swap", async () => {
    const { engines, url, health, toldAsLeft } = await startChain({ prompt: 0, tokens: 20 });
    const running = askChat(url, "a", { max_tokens: 40 });
    await running.firstByte;
    const waiting = askChat(url, "b");
    await until(async () => (await health()).queue_depth === 1, "b waits");
    const { swaps } = await health();
    const ms = await timeUntil(async () => (await health()).queue_depth === 0, waiting.leave);
    console.log(`cancel queued: gone after ${ms.toFixed(1)} ms`);
    await toldAsLeft();
    expect((await running.answer).body).toContain("[DONE]");
    expect((await health()).swaps).toBe(swaps);
    expect(engines.b.stats.served + engines.b.stats.left).toBe(0);
    expect(ms).toBeLessThan(CEILING_MS);
  });

  it("is gone while the swap runs, and nothing reaches the engine afterwards", async () => {
    const { engines, url, health, toldAsLeft } = await startChain({ prompt: 0, tokens: 20 }, 1);
    const waiting = askChat(url, "b");
    await until(async () => (await health()).model === null, "the swap runs");
    expect((await health()).queue_depth).toBe(1);
    const ms = await timeUntil(async () => (await health()).queue_depth === 0, waiting.leave);
    console.log(`cancel swapping: gone after ${ms.toFixed(1)} ms`);
    await toldAsLeft();
    await until(async () => (await health()).model === "b", "the swap has ended");
    expect(engines.b.stats.served + engines.b.stats.left).toBe(0);
    expect(ms).toBeLessThan(CEILING_MS);
  });
});
