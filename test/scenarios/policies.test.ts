import { setTimeout as after } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { startAgentFarm } from "../harness/agent-farm.ts";
import { askChat } from "../harness/ask.ts";
import { Cleanup } from "../harness/farmgate-process.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const ANSWER = { max_tokens: 160 }; // 800 ms at 200 tokens a second
const LOAD = "400ms";
const STREAM_EVERY_MS = 450;

const burst = (at: number, models: readonly string[]) => models.map((model, i) => ({ at: at + i, model }));

/** A stream for `chat` in which the next request always comes before the last one is answered, and bursts beside it. */
const REQUESTS = [
  ...Array.from({ length: 17 }, (_, i) => ({ at: i * STREAM_EVERY_MS, model: "chat" })),
  ...burst(300, ["code", "chat", "tools", "code", "chat", "tools", "code", "chat"]),
  ...burst(2_500, ["tools", "tools", "tools", "tools", "tools", "code", "code", "code"]),
  ...burst(4_500, ["code", "code", "code", "code", "tools", "tools", "tools", "tools"]),
];

async function serve(policy: string) {
  const farm = await startAgentFarm(
    cleanup,
    ["chat", "code", "tools"],
    { load: LOAD, slots: 4, tokensPerSecond: 200 },
    { policy, maxWait: "500ms" },
  );
  await farm.load("chat");
  const before = (await farm.health()).swaps;
  const startedAt = performance.now();
  const answers = await Promise.all(
    REQUESTS.map(async ({ at, model }, seed) => {
      await after(at);
      return askChat(farm.url, model, { ...ANSWER, seed }).answer;
    }),
  );
  const waits = answers.map(({ sentAt, firstByteAt }) => firstByteAt - sentAt);
  return {
    served: answers.filter(({ status, complete }) => status === 200 && complete).length,
    loads: (await farm.health()).swaps - before,
    makespan: Math.max(...answers.map(({ endedAt }) => endedAt)) - startedAt,
    longestWait: Math.max(...waits),
    meanWait: waits.reduce((sum, wait) => sum + wait, 0) / waits.length,
  };
}

describe("two bursts for three models beside a stream that never pauses", () => {
  it("cost the greedy rule fewer loads than arrival order and shorter waits than endless collation", async () => {
    const [greedy, fifo, collate] = [await serve("greedy"), await serve("fifo"), await serve("collate")];
    const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
    console.log(`${REQUESTS.length} requests for three models with loads of ${LOAD}, real processes`);
    console.log("| policy | loads | makespan | longest wait | mean wait |\n| --- | ---: | ---: | ---: | ---: |");
    for (const [policy, { loads, makespan, longestWait, meanWait }] of Object.entries({ greedy, fifo, collate })) {
      console.log(`| ${policy} | ${loads} | ${[makespan, longestWait, meanWait].map(seconds).join(" | ")} |`);
    }
    for (const { served } of [greedy, fifo, collate]) expect(served).toBe(REQUESTS.length);
    expect(greedy.loads).toBeLessThan(fifo.loads);
    expect(greedy.makespan).toBeLessThan(fifo.makespan);
    expect(greedy.longestWait).toBeLessThan(collate.longestWait);
  }, 180_000);
});
