import { afterEach, describe, expect, it } from "vitest";
import { askChat } from "../harness/ask.ts";
import { startMachine } from "../harness/command-machine.ts";
import { Cleanup } from "../harness/farmgate-process.ts";
import { startTestGateway } from "../harness/gateway-farm.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const FIRST_BYTE_MS = 3_000;

describe("a gateway that gives an engine three seconds for its first byte", () => {
  it("lets a request wait far longer than that in an agent's queue, and still ends one at an engine that hangs", async () => {
    const box = await startMachine(cleanup, "box", [
      { name: "slow", slots: 1, tokensPerSecond: 10 },
      { name: "hangs", fail: "hang@hangs" },
    ]);
    await box.order("slow", "load");
    const timeouts = { firstByte: `${FIRST_BYTE_MS}ms` };
    const { url } = await startTestGateway(cleanup, { box: box.url }, { timeouts, sseComments: 0 });
    const running = askChat(url, "slow", { max_tokens: 60 });
    await running.firstByte;
    const queued = askChat(url, "slow", { max_tokens: 5 });
    const hung = askChat(url, "hangs");
    const [first, second, third] = await Promise.all([running.answer, queued.answer, hung.answer]);
    const seconds = [second, third].map(({ endedAt, firstByteAt, sentAt }) =>
      (((firstByteAt || endedAt) - sentAt) / 1_000).toFixed(1),
    );
    console.log(`firstByte 3 s: served after ${seconds[0]} s in the queue; the hung one ended after ${seconds[1]} s`);
    expect([second.status, second.complete]).toEqual([200, true]);
    expect(second.body.endsWith("data: [DONE]\n\n")).toBe(true);
    expect(second.firstByteAt - second.sentAt).toBeGreaterThan(FIRST_BYTE_MS + 1_000);
    expect(third.status).toBe(504);
    expect(third.body).toContain('"timeout_first_byte"');
    // Its time counts from its turn, which comes when the answers before it have ended.
    expect(third.endedAt - first.endedAt).toBeGreaterThan(FIRST_BYTE_MS);
    expect(third.endedAt - second.endedAt).toBeLessThan(FIRST_BYTE_MS + 15_000);
  });
});
