import { describe, expect, it } from "vitest";
import { askChat } from "../harness/ask.ts";
import { cleanupAfter, type FarmgateProcess } from "../harness/farmgate-process.ts";
import { askAgain, type KilledFarm, looked, prepareKilledFarm } from "../harness/killed-farm.ts";
import { processesOf } from "../harness/processes-of.ts";
import { until } from "../harness/until.ts";

async function kill(agent: FarmgateProcess): Promise<void> {
  agent.child.kill("SIGKILL");
  await agent.ended;
}

/** What came of asking for these models one after the other, and of a clean stop; by the engines' own journals. */
async function served(farm: KilledFarm, agent: FarmgateProcess, models: readonly string[]) {
  const whole: boolean[] = [];
  for (const model of models) {
    const { status, complete } = await askAgain(farm.url, model);
    whole.push(status === 200 && complete);
  }
  const exit = await agent.stop();
  return { whole, exit, ...looked(await farm.residences()), orphans: await farm.orphans() };
}

const ALL_WELL = { whole: [true, true], exit: 0, most: 1, twice: [], orphans: [] };

const begun = async (farm: KilledFarm, what: string, model: string) =>
  (await farm.engine.lines()).filter((line) => line.what === what && line.model === model).length;

describe.concurrent("an agent that is killed as it cleans up after one that was killed", () => {
  it("leaves the command that it was ending to the next one", async ({ onTestFinished }) => {
    const farm = await prepareKilledFarm(cleanupAfter(onTestFinished), { budget: 0 });
    await farm.engine.set("load-ms", 20_000);
    await farm.engine.set("linger-ms", 4_000);
    const first = await farm.start();
    askChat(farm.url, "solo");
    await farm.noted("in", "solo");
    await kill(first);
    await farm.engine.set("load-ms", 200);
    const second = farm.run();
    await farm.noted("term", "solo");
    await kill(second);
    await farm.engine.set("linger-ms", 0);
    expect(await served(farm, farm.run(), ["pair-b", "solo"])).toEqual(ALL_WELL);
  });

  it("leaves the engine that it was unloading to the next one", async ({ onTestFinished }) => {
    const farm = await prepareKilledFarm(cleanupAfter(onTestFinished), { budget: 0 });
    await farm.engine.set("load-ms", 20_000);
    await farm.engine.set("linger-ms", 6_000);
    const first = await farm.start();
    askChat(farm.url, "pair-a");
    await farm.noted("in", "pair-a");
    await until(async () => (await farm.script()).includes("end pair-a"), "the script has ended");
    await kill(first);
    await farm.engine.set("load-ms", 200);
    const second = farm.run();
    await farm.noted("term", "pair-a");
    await kill(second);
    await farm.engine.set("linger-ms", 0);
    expect(await served(farm, farm.run(), ["solo", "pair-a"])).toEqual(ALL_WELL);
  });
});

describe.concurrent("a second agent with the same file", () => {
  it("fails on the port, and touches neither the first one's command nor its answer", async ({ onTestFinished }) => {
    const farm = await prepareKilledFarm(cleanupAfter(onTestFinished), { budget: 0 });
    const first = await farm.start();
    const asked = askChat(farm.url, "solo", { max_tokens: 400 });
    await asked.firstByte;
    const second = farm.run();
    expect(await second.ended).not.toBe(0);
    expect(second.output()).toMatch(/in use/);
    expect(await asked.answer).toMatchObject({ status: 200, complete: true });
    expect(await begun(farm, "term", "solo")).toBe(0);
    expect(await served(farm, first, ["solo", "pair-b"])).toEqual(ALL_WELL);
  });

  it("fails on the port, and lets the first one's script end", async ({ onTestFinished }) => {
    const farm = await prepareKilledFarm(cleanupAfter(onTestFinished), { budget: 0 });
    await farm.hold(8);
    const first = await farm.start();
    const asked = askChat(farm.url, "pair-a");
    await farm.noted("in", "pair-a");
    expect(await farm.run().ended).not.toBe(0);
    expect(await farm.script()).not.toContain("end pair-a");
    await farm.hold(0);
    expect(await asked.answer).toMatchObject({ status: 200, complete: true });
    expect(await begun(farm, "in", "pair-a")).toBe(1);
    expect(await served(farm, first, ["pair-a", "solo"])).toEqual(ALL_WELL);
  });
});

describe.concurrent("a new agent beside one that still drains", () => {
  it("leaves it its command and its answer, says why it cannot load yet, and takes over when it has gone", async ({
    onTestFinished,
  }) => {
    const farm = await prepareKilledFarm(cleanupAfter(onTestFinished), { budget: 0, drain: "1m" });
    const first = await farm.start();
    const asked = askChat(farm.url, "solo", { max_tokens: 1_500 });
    await asked.firstByte;
    first.child.kill("SIGTERM");
    await until(async () => !(await fetch(`${farm.url}/health`).then(Boolean, () => false)), "it takes nothing more");
    const second = await farm.start();
    const refused = await askAgain(farm.url, "solo");
    expect(refused.status).toBe(503);
    expect(refused.body).toMatch(/something else answers at/);
    expect(await begun(farm, "term", "solo")).toBe(0);
    const before = asked.received().length;
    await until(() => asked.received().length > before, "its answer goes on");
    asked.leave();
    expect(await first.ended).toBe(0);
    const { whole, exit, orphans } = await served(farm, second, ["solo", "pair-b"]);
    expect({ whole, exit, orphans }).toEqual({ whole: [true, true], exit: 0, orphans: [] });
  });
});

describe.concurrent("an agent that is told to stop", () => {
  it.for(["pair-a", "solo"])("while %s is brought up leaves nothing running", async (model, { onTestFinished }) => {
    const farm = await prepareKilledFarm(cleanupAfter(onTestFinished), { budget: 0 });
    await farm.engine.set("load-ms", 20_000);
    await farm.hold(20);
    const agent = await farm.start();
    askChat(farm.url, model);
    await farm.noted("in", model);
    expect(await agent.stop()).toBe(0);
    expect(await processesOf(farm.folder)).toEqual([]);
  });

  it("ends a command that takes longer to go than the drain and all margins, rather than leave it", async ({
    onTestFinished,
  }) => {
    const farm = await prepareKilledFarm(cleanupAfter(onTestFinished), { budget: 0, stopGrace: "7s" });
    await farm.engine.set("linger-ms", 60_000);
    const agent = await farm.start();
    expect(await askChat(farm.url, "solo").answer).toMatchObject({ status: 200 });
    expect(await agent.stop()).toBe(0);
    expect(await processesOf(farm.folder)).toEqual([]);
  });

  it("while a script's engine loads leaves it loading, which the next one takes into account", async ({
    onTestFinished,
  }) => {
    const farm = await prepareKilledFarm(cleanupAfter(onTestFinished), { budget: 0 });
    await farm.engine.set("load-ms", 20_000);
    const agent = await farm.start();
    askChat(farm.url, "pair-a");
    await until(async () => (await farm.script()).includes("end pair-a"), "the script has ended");
    expect(await agent.stop()).toBe(0);
    expect(await begun(farm, "out", "pair-a")).toBe(0);
    await farm.engine.set("load-ms", 200);
    expect(await served(farm, farm.run(), ["solo", "pair-a"])).toEqual(ALL_WELL);
  });
});
