import { afterEach, describe, expect, it } from "vitest";
import { type Answer, askChat } from "../../harness/ask.ts";
import { Cleanup } from "../../harness/farmgate-process.ts";
import { type Met, startLoadedFile } from "../../harness/loaded-file.ts";
import { until } from "../../harness/until.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

/** Models that were started while another one was. */
function startedBesideAnother(log: readonly string[]): string[] {
  return log.filter((line, i) => line.startsWith("start") && (log[i - 1] ?? "").startsWith("start"));
}

function expectWhole(answers: readonly Answer[], models: readonly string[]): void {
  for (const [i, { status, body }] of answers.entries()) {
    expect([status, body.endsWith("data: [DONE]\n\n")]).toEqual([200, true]);
    expect(body).toContain(`"model":"${models[i]}"`);
  }
}

/** How often, in the order of the answers, a model followed another one. */
function batches(met: readonly Met[]): number {
  return met.filter(({ model }, i) => model !== met[i - 1]?.model).length;
}

const startsIn = (log: readonly string[]) => log.filter((line) => line.startsWith("start")).length;

describe("models that are swapped", () => {
  it("are never two at once in fifty parallel pairs, and no request meets one that is not loaded", async () => {
    const farm = await startLoadedFile(cleanup, ["a", "b"], { swapMs: 20, answerMs: 8, queue: { maxBatch: 7 } });
    const models = Array.from({ length: 100 }, (_, i) => (i % 2 === 0 ? "a" : "b"));
    const answers = await Promise.all(models.map((model) => askChat(farm.url, model).answer));
    expectWhole(answers, models);
    const log = await farm.swapLog();
    console.log(`50 pairs: ${startsIn(log)} starts, ${batches(farm.met)} batches`);
    expect(startedBesideAnother(log)).toEqual([]);
    expect(startsIn(log)).toBeGreaterThan(5);
    expect(farm.met.filter(({ loaded }) => !loaded)).toEqual([]);
    expect(startsIn(log)).toBe(batches(farm.met));
  });

  it("change after a long stream has ended, by one swap, and then the other answers", async () => {
    const farm = await startLoadedFile(cleanup, ["a", "b"], { answerMs: 600 });
    const long = askChat(farm.url, "a");
    await long.firstByte;
    const other = askChat(farm.url, "b");
    await until(async () => (await farm.health()).queue_depth === 1, "b waits");
    const answers = [await long.answer, await other.answer];
    expectWhole(answers, ["a", "b"]);
    expect(answers[0]?.endedAt).toBeLessThan(answers[1]?.firstByteAt ?? 0);
    expect(await farm.swapLog()).toEqual(["start a", "stop a", "start b"]);
    expect(farm.met.map(({ loaded }) => loaded)).toEqual([true, true]);
  });

  it("change after the last of the answers in flight, whenever another one is asked for", async () => {
    const farm = await startLoadedFile(cleanup, ["a", "b"], {
      answerMs: 300,
      queue: { maxBatch: 2 },
      model: { slots: 4 },
    });
    await askChat(farm.url, "a").answer;
    const models = ["a", "a", "b", "a", "a", "b"];
    const answers = [];
    for (const [i, model] of models.entries()) {
      answers.push(askChat(farm.url, model).answer);
      await until(
        async () => {
          const { queue_depth: waiting, inflight } = await farm.health();
          return waiting + inflight === i + 1;
        },
        `${i + 1} are there`,
      );
    }
    expectWhole(await Promise.all(answers), models);
    expect(farm.met.filter(({ loaded, ended }) => !loaded || !ended)).toEqual([]);
    expect(await farm.swapLog()).toEqual(["start a", "stop a", "start b"]);
  });

  it("each serve somebody before they go, when two are asked for in alternation without a pause", async () => {
    const farm = await startLoadedFile(cleanup, ["a", "b"], { swapMs: 200, answerMs: 8 });
    const models = Array.from({ length: 300 }, (_, i) => (i % 2 === 0 ? "a" : "b"));
    const asked = [];
    for (const model of models) {
      asked.push(askChat(farm.url, model).answer);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expectWhole(await Promise.all(asked), models);
    const log = await farm.swapLog();
    console.log(`ping-pong: 300 requests, ${startsIn(log)} starts, ${batches(farm.met)} batches`);
    expect(startedBesideAnother(log)).toEqual([]);
    expect(startsIn(log)).toBe(batches(farm.met));
    expect(startsIn(log)).toBeLessThan(60);
    expect(farm.met.filter(({ loaded }) => !loaded)).toEqual([]);
  });
});
