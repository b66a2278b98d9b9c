import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { askChat } from "../harness/ask.ts";
import { cleanupAfter } from "../harness/farmgate-process.ts";
import { type KilledFarm, looked, prepareKilledFarm } from "../harness/killed-farm.ts";

/** Real time that a crash loop is watched for, in milliseconds. */
const WATCHED_MS = 9_000;

/** Milliseconds of processor time that the process has used, at the usual 100 ticks a second. */
async function processorMs(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

const startsOf = async (farm: KilledFarm, model: string) =>
  (await farm.engine.lines()).filter((line) => line.what === "in" && line.model === model).map(({ at }) => at);

/** Keeps asking for another model; resolves with the statuses, and how much of the time the agent computed. */
async function watch(farm: KilledFarm, pid: number, also: () => Promise<unknown>) {
  const before = await processorMs(pid);
  const beganAt = performance.now();
  const statuses: number[] = [];
  while (performance.now() - beganAt < WATCHED_MS) {
    statuses.push((await askChat(farm.url, "ext-a").answer).status);
    await also();
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  return { statuses, busy: ((await processorMs(pid)) - before) / (performance.now() - beganAt) };
}

describe.concurrent("a command that crashes each time", () => {
  it("after it was ready is started again with growing pauses, and harms no other model", async ({
    onTestFinished,
  }) => {
    const commands = [{ name: "crash", mode: "dies-ready" }];
    const farm = await prepareKilledFarm(cleanupAfter(onTestFinished), {
      budget: 2,
      commands,
      swap: { failureLimit: 20 },
    });
    const agent = await farm.start();
    await fetch(`${farm.url}/models/crash/load`, { method: "POST" });
    const { statuses, busy } = await watch(farm, agent.child.pid ?? 0, async () => {});
    const starts = await startsOf(farm, "crash");
    const gaps = starts.slice(1).map((at, i) => at - (starts[i] ?? 0));
    console.log(`crashes once ready: starts after ${gaps.join(", ")} ms, agent busy ${Math.round(100 * busy)} %`);
    expect(gaps.length).toBeGreaterThanOrEqual(2);
    expect(gaps.length).toBeLessThanOrEqual(4);
    for (const [i, gap] of gaps.entries()) expect(gap).toBeGreaterThan(1_000 * 2 ** i);
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(busy).toBeLessThan(0.5);
    expect(looked(await farm.residences())).toMatchObject({ twice: [] });
  });

  it.for(["dies-ready", "dies-unready"])(
    "(%s) is refused once its failures are used up",
    async (mode, { onTestFinished }) => {
      const farm = await prepareKilledFarm(cleanupAfter(onTestFinished), {
        budget: 2,
        commands: [{ name: "crash", mode }],
      });
      const agent = await farm.start();
      await fetch(`${farm.url}/models/crash/load`, { method: "POST" });
      const { statuses, busy } = await watch(farm, agent.child.pid ?? 0, async () => {
        if (mode === "dies-unready") await askChat(farm.url, "crash").answer;
      });
      console.log(`${mode}: ${(await startsOf(farm, "crash")).length} starts, agent busy ${Math.round(100 * busy)} %`);
      expect(await startsOf(farm, "crash")).toHaveLength(3);
      expect(await askChat(farm.url, "crash").answer).toMatchObject({ status: 503 });
      expect(await startsOf(farm, "crash")).toHaveLength(3);
      expect(new Set(statuses)).toEqual(new Set([200]));
      expect(busy).toBeLessThan(0.5);
    },
  );
});

it.concurrent("a load that is not ready in time is taken out of memory again", async ({ onTestFinished }) => {
  const farm = await prepareKilledFarm(cleanupAfter(onTestFinished), { budget: 0, swap: { timeout: "4s" } });
  await farm.engine.set("load-ms", 60_000);
  await farm.start();
  expect(await askChat(farm.url, "pair-a").answer).toMatchObject({ status: 503 });
  await farm.engine.set("load-ms", 200);
  expect(await askChat(farm.url, "solo").answer).toMatchObject({ status: 200, complete: true });
  expect(looked(await farm.residences())).toEqual({ most: 1, twice: [] });
});

it.concurrent("a child that a command puts outside of its group goes with it", async ({ onTestFinished }) => {
  const farm = await prepareKilledFarm(cleanupAfter(onTestFinished), {
    budget: 0,
    commands: [{ name: "forked", mode: "forks" }],
  });
  const agent = await farm.start();
  for (const model of ["forked", "solo", "forked"]) {
    expect(await askChat(farm.url, model).answer).toMatchObject({ status: 200, complete: true });
  }
  expect(await agent.stop()).toBe(0);
  expect(await farm.orphans()).toEqual([]);
});
