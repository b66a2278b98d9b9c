import { setTimeout as after } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { startAgentFarm } from "../harness/agent-farm.ts";
import { type Answer, askChat } from "../harness/ask.ts";
import { Cleanup } from "../harness/farmgate-process.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const ANSWER = { max_tokens: 160 }; // 800 ms at 200 tokens a second
const LOAD = "400ms";
/** Shorter than an answer, so that the stream never pauses while it is served. */
const STREAM_EVERY_MS = 450;
const LONGEST_STREAM = 100;
const BURSTS = [
  ...["code", "chat", "tools", "code", "chat", "tools", "code", "chat"].map((model) => ({ at: 300, model })),
  ...["tools", "tools", "tools", "tools", "code", "code", "code", "code"].map((model) => ({ at: 2_000, model })),
];

/** The bursts beside a stream for `chat` of so many requests; null: until the bursts are answered. */
async function serve(policy: string, requests: number | null) {
  const models = ["chat", "code", "tools"];
  const flags = { load: LOAD, slots: 4, tokensPerSecond: 200 };
  const farm = await startAgentFarm(cleanup, models, flags, { policy, maxWait: "500ms" });
  await farm.load("chat");
  const before = (await farm.health()).swaps;
  const startedAt = performance.now();
  const askFor = (model: string) => askChat(farm.url, model, ANSWER).answer;
  let waiting = true;
  const bursts = Promise.all(BURSTS.map(({ at, model }) => after(at).then(() => askFor(model)))).finally(() => {
    waiting = false;
  });
  const stream: Promise<Answer>[] = [];
  while (requests === null ? waiting && stream.length < LONGEST_STREAM : stream.length < requests) {
    stream.push(askFor("chat"));
    await after(STREAM_EVERY_MS);
  }
  const answers = [...(await bursts), ...(await Promise.all(stream))];
  const loads = (await farm.health()).swaps - before;
  const waits = answers.map(({ sentAt, firstByteAt }) => firstByteAt - sentAt);
  return {
    asked: answers.length,
    served: answers.filter(({ status, complete }) => status === 200 && complete).length,
    streamed: stream.length,
    loads,
    makespan: Math.max(...answers.map(({ endedAt }) => endedAt)) - startedAt,
    longestWait: Math.max(...waits),
    meanWait: waits.reduce((sum, wait) => sum + wait, 0) / waits.length,
  };
}

describe("two bursts for three models beside a stream that never pauses", () => {
  it("cost the greedy rule fewer loads than arrival order and shorter waits than endless collation", async () => {
    const greedy = await serve("greedy", null);
    await cleanup.run();
    const [fifo, collate] = await Promise.all([serve("fifo", greedy.streamed), serve("collate", greedy.streamed)]);
    const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
    console.log(`${greedy.asked} requests for three models with loads of ${LOAD}, real processes`);
    console.log("| policy | loads | makespan | longest wait | mean wait |\n| --- | ---: | ---: | ---: | ---: |");
    for (const [policy, { loads, makespan, longestWait, meanWait }] of Object.entries({ greedy, fifo, collate })) {
      console.log(`| ${policy} | ${loads} | ${[makespan, longestWait, meanWait].map(seconds).join(" | ")} |`);
    }
    for (const { served } of [greedy, fifo, collate]) expect(served).toBe(greedy.asked);
    expect(greedy.loads).toBeLessThan(fifo.loads);
    expect(greedy.makespan).toBeLessThan(fifo.makespan);
    expect(greedy.longestWait).toBeLessThan(collate.longestWait);
  }, 240_000);
});
