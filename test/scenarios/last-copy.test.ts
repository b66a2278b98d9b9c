import { afterEach, describe, expect, it } from "vitest";
import { askChat } from "../harness/ask.ts";
import { startMachine } from "../harness/command-machine.ts";
import { explained, farmgateSays, farmModel, logOf } from "../harness/farm-words.ts";
import { Cleanup } from "../harness/farmgate-process.ts";
import { startTestGateway } from "../harness/gateway-farm.ts";
import { until } from "../harness/until.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

/** Two machines of one place each: `a` is warm on the first, and `c`, which nobody asks for, on the second. */
async function startTwo() {
  const models = ["a", "b", "c"].map((name) => ({ name }));
  const [one, two] = await Promise.all([startMachine(cleanup, "one", models), startMachine(cleanup, "two", models)]);
  await Promise.all([one.order("a", "load"), two.order("c", "load")]);
  return { one, two, ...(await startTestGateway(cleanup, { one: one.url, two: two.url })) };
}

describe("a cold model, where one machine has the last warm copy of a model in use", () => {
  it("is loaded on the other machine, and explain says why", async () => {
    const { one, url } = await startTwo();
    expect((await explained(url, "b")).decision.worker).toBe("one");
    expect((await askChat(url, "a").answer).headers["x-farmgate-worker"]).toBe("one");
    const { decision, ranked } = await explained(url, "b");
    expect(decision.worker).toBe("two");
    const words = "loading it here would drop the farm's last warm copy of a";
    expect(ranked.map(({ worker, reason }) => [worker, reason.includes(words)])).toEqual([
      ["two", false],
      ["one", true],
    ]);
    expect((await farmgateSays(url, "explain", "b")).replace(/\s+/g, " ")).toContain(words);
    const answer = await askChat(url, "b").answer;
    expect([answer.status, answer.headers["x-farmgate-worker"]]).toEqual([200, "two"]);
    expect(await one.state("a")).toBe("warm");
    expect(await one.starts()).toEqual(["a"]);
  });
});

describe("a model in use that is warm on one machine alone", () => {
  it("is told of once in the log and in status, and once when it is over", async () => {
    const { gateway, two, url } = await startTwo();
    expect((await farmModel(url, "a"))?.note).toBe(null);
    await askChat(url, "a").answer;
    const note = "in use and warm on one alone, though 2 workers have it";
    await until(() => logOf(gateway, note).length > 0, "the log tells");
    expect((await farmModel(url, "a"))?.note).toBe(note);
    expect(await farmgateSays(url, "status")).toContain(`! a: ${note}`);
    await two.order("a", "load");
    await until(() => logOf(gateway, "no copy is missing any more").length > 0, "the log tells its end");
    const told = logOf(gateway, "a: ").map(({ level, msg }) => [level, msg]);
    expect(told).toEqual([
      ["warn", `a: ${note}`],
      ["info", "a: no copy is missing any more (2 warm)"],
    ]);
    expect((await farmModel(url, "a"))?.note).toBe(null);
  });
});
