import { afterEach, describe, expect, it } from "vitest";
import { startAgentFarm } from "../harness/agent-farm.ts";
import { askChat } from "../harness/ask.ts";
import { Cleanup } from "../harness/farmgate-process.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const FLAGS = { load: "200ms", slots: 1, tokensPerSecond: 40 };
/** Arrivals 1 to 6 of the canonical scenario. */
const ARRIVALS = ["chat", "code", "chat", "chat", "code", "code"];

/** Sends the six in order, the next once the agent holds the one before; the order in which they were answered. */
async function serveSix(loaded: string | null, policy: string) {
  const farm = await startAgentFarm(cleanup, ["chat", "code"], FLAGS, { policy });
  const order: number[] = [];
  const answers: Promise<unknown>[] = [];
  if (loaded !== null) {
    await farm.load(loaded);
    // An answer under way lets all six arrive before the first choice is made.
    answers.push(askChat(farm.url, loaded, { max_tokens: 60 }).answer);
    await farm.holds(1);
  }
  const before = (await farm.health()).swaps;
  for (const [i, model] of ARRIVALS.entries()) {
    answers.push(askChat(farm.url, model, { max_tokens: 10 }).answer.then(() => order.push(i + 1)));
    await farm.holds(answers.length);
  }
  await Promise.all(answers);
  const starts = (await farm.swap.starts()).slice(loaded === null ? 0 : 1);
  return { order: order.join(" "), swaps: (await farm.health()).swaps - before, starts };
}

describe("the six requests, through a real agent and real engine processes", () => {
  it.each([
    { loaded: "chat", policy: "greedy", order: "1 3 4 2 5 6", swaps: 1 },
    { loaded: "code", policy: "greedy", order: "2 5 6 1 3 4", swaps: 1 },
    { loaded: null, policy: "greedy", order: "1 3 4 2 5 6", swaps: 2 },
    { loaded: "chat", policy: "fifo", order: "1 2 3 4 5 6", swaps: 3 },
  ])("$policy with $loaded loaded: $order, $swaps swaps", async ({ loaded, policy, order, swaps }) => {
    const served = await serveSix(loaded, policy);
    console.log(`six requests, ${policy}, ${loaded ?? "nothing"} loaded: ${served.order}, ${served.swaps} swaps`);
    expect(served.order).toBe(order);
    expect(served.swaps).toBe(swaps);
    expect(served.starts).toHaveLength(swaps);
  });
});
