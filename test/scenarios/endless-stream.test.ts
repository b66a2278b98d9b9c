import { afterEach, describe, expect, it } from "vitest";
import { startAgentFarm } from "../harness/agent-farm.ts";
import { askChat } from "../harness/ask.ts";
import { Cleanup } from "../harness/farmgate-process.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const MAX_WAIT_MS = 2_000;

describe("an endless stream of requests for one model and a single one for another", () => {
  it("serves the single one soon after maxWait", async () => {
    const flags = { load: "300ms", slots: 2, tokensPerSecond: 100 };
    const farm = await startAgentFarm(cleanup, ["a", "b"], flags, { maxWait: `${MAX_WAIT_MS}ms`, maxBatch: 1_000 });
    await farm.load("a");
    const stop = new AbortController();
    let servedA = 0;
    const stream = async () => {
      while (!stop.signal.aborted)
        if ((await askChat(farm.url, "a", { seed: servedA }).answer).status === 200) servedA += 1;
    };
    const streams = [stream(), stream(), stream(), stream()];
    const single = await askChat(farm.url, "b").answer;
    stop.abort();
    await Promise.all(streams);
    const waitedMs = single.firstByteAt - single.sentAt;
    console.log(
      `endless stream: B waited ${(waitedMs / 1_000).toFixed(2)} s at maxWait 2 s; A was served ${servedA} times`,
    );
    expect(single.status).toBe(200);
    expect(servedA).toBeGreaterThan(10);
    expect(waitedMs).toBeGreaterThan(MAX_WAIT_MS * 0.9);
    expect(waitedMs).toBeLessThan(MAX_WAIT_MS + 10_000);
  });
});
