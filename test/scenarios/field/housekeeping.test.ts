import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { seededRandom } from "@farmgate/shared";
import { afterEach, describe, expect, it } from "vitest";
import { askChat } from "../../harness/ask.ts";
import { Cleanup } from "../../harness/farmgate-process.ts";
import { type LoadedFileFarm, startLoadedFile } from "../../harness/loaded-file.ts";
import { until } from "../../harness/until.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Asks once the model is unloaded, and leaves when the script has begun and before it ends. */
async function leaveWhileLoading(farm: LoadedFileFarm): Promise<void> {
  await until(async () => (await farm.catalog()).models[0]?.state === "cold", "a is unloaded");
  await writeFile(join(farm.folder, "hold"), "");
  await rm(join(farm.folder, "began"), { force: true });
  const asked = askChat(farm.url, "a");
  await until(() => existsSync(join(farm.folder, "began")), "the script runs");
  asked.leave();
  await until(async () => (await farm.health()).queue_depth === 0, "the caller is gone");
  await rm(join(farm.folder, "hold"));
}

describe("an agent that unloads idle models", () => {
  it("serves a caller who comes each time that the ttl ends, and tells one who left as 499", async () => {
    const farm = await startLoadedFile(cleanup, ["a"], {
      swapMs: 10,
      answerMs: 8,
      first: ": > began; while [ -f hold ]; do sleep 0.02; done",
      swap: { unload: true },
      model: { ttl: "100ms" },
    });
    let left = 0;
    for (let round = 0; round < 60; round += 1) {
      if (round % 12 === 5) {
        await leaveWhileLoading(farm);
        left += 1;
      }
      const { status, body } = await askChat(farm.url, "a").answer;
      expect([round, status, body.endsWith("data: [DONE]\n\n")]).toEqual([round, 200, true]);
      await pause(95 + (round % 11));
    }
    const unloads = (await farm.swapLog()).filter((line) => line === "stop a").length;
    console.log(`ttl and requests: 60 rounds, ${unloads} unloads, ${left} callers left while it was loaded`);
    expect(unloads).toBeGreaterThan(left);
    expect(farm.met.filter(({ loaded }) => !loaded)).toEqual([]);
    const told = (status: number) => farm.lines().filter((line) => line.status === status).length;
    await until(() => told(200) === 60, "each answer is told");
    expect(told(499)).toBe(left);
  });

  it("never takes a model from under a request, however often it looks and is looked at", async () => {
    const farm = await startLoadedFile(cleanup, ["a", "b"], {
      answerMs: 24,
      swap: { unload: true },
      queue: { gather: "0ms" },
      model: { ttl: "10ms", slots: 2 },
    });
    const done = new AbortController();
    const looks = [farm.health, farm.catalog].map(async (look) => {
      while (!done.signal.aborted) {
        await look();
        await pause(10);
      }
    });
    const random = seededRandom(8);
    const asked = [];
    for (let i = 0; i < 60; i += 1) {
      const one = askChat(farm.url, random() < 0.7 ? "a" : "b").answer;
      asked.push(one);
      if (random() < 0.6) await one;
      await pause(random() * 25);
    }
    const answers = await Promise.all(asked);
    done.abort();
    await Promise.all(looks);
    const unloads = (await farm.swapLog()).filter((line) => line.startsWith("stop")).length;
    console.log(`housekeeping: 60 requests, ${unloads} unloads and swaps`);
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    expect(farm.met.filter(({ loaded }) => !loaded)).toEqual([]);
    expect(unloads).toBeGreaterThan(10);
  });
});
