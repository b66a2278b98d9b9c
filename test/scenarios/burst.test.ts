import { afterEach, describe, expect, it } from "vitest";
import { startAgentFarm } from "../harness/agent-farm.ts";
import { askChat } from "../harness/ask.ts";
import { Cleanup } from "../harness/farmgate-process.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

/** Fifteen for a cold model and three for the warm one, the three spread among the fifteen. */
const BURST = Array.from({ length: 18 }, (_, i) => (i % 6 === 3 ? "warm" : "cold"));

async function serveBurst(policy: string) {
  const farm = await startAgentFarm(
    cleanup,
    ["warm", "cold"],
    { load: "500ms", slots: 4, tokensPerSecond: 200 },
    { policy },
  );
  await farm.load("warm");
  const before = (await farm.health()).swaps;
  const startedAt = performance.now();
  const answers: Promise<{ status: number }>[] = [];
  for (const [i, model] of BURST.entries()) {
    answers.push(askChat(farm.url, model, { max_tokens: 40, seed: i }).answer);
    // Arrival order is what is compared, so the connections are made one after the other.
    await new Promise((resolve) => setImmediate(resolve));
  }
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  return {
    swaps: (await farm.health()).swaps - before,
    makespanMs: performance.now() - startedAt,
    served: statuses.filter((status) => status === 200).length,
  };
}

describe("a burst of 15 for a cold model and 3 for the warm one", () => {
  it("costs one swap, and several in arrival order", async () => {
    const greedy = await serveBurst("greedy");
    const arrival = await serveBurst("fifo");
    for (const [policy, { swaps, makespanMs }] of Object.entries({ greedy, arrival })) {
      console.log(`burst 15 + 3, ${policy}: ${swaps} swaps, makespan ${(makespanMs / 1_000).toFixed(1)} s`);
    }
    expect(greedy).toMatchObject({ swaps: 1, served: 18 });
    expect(arrival.served).toBe(18);
    expect(arrival.swaps).toBeGreaterThan(3);
    expect(arrival.makespanMs).toBeGreaterThan(greedy.makespanMs);
  });
});
