import { afterEach, expect, it } from "vitest";
import { askChat } from "../harness/ask.ts";
import { startMachine } from "../harness/command-machine.ts";
import { explained, farmgateSays, farmModel, logOf } from "../harness/farm-words.ts";
import { Cleanup } from "../harness/farmgate-process.ts";
import { startTestGateway } from "../harness/gateway-farm.ts";
import { until } from "../harness/until.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

it("the last warm copy of a model in use is spared where another machine can load, explain says why, and one copy alone is told of once", async () => {
  const models = ["a", "b", "c"].map((name) => ({ name }));
  const [one, two] = await Promise.all([startMachine(cleanup, "one", models), startMachine(cleanup, "two", models)]);
  // One place each: `a` is warm on the first machine, and `c`, which nobody asks for, on the second.
  await Promise.all([one.order("a", "load"), two.order("c", "load")]);
  const { gateway, url } = await startTestGateway(cleanup, { one: one.url, two: two.url });
  expect((await explained(url, "b")).decision.worker).toBe("one");
  expect((await farmModel(url, "a"))?.note).toBe(null);

  expect((await askChat(url, "a").answer).headers["x-farmgate-worker"]).toBe("one");
  const note = "in use and warm on one alone, though 2 workers have it";
  await until(() => logOf(gateway, note).length > 0, "the log tells");
  expect((await farmModel(url, "a"))?.note).toBe(note);
  expect(await farmgateSays(url, "status")).toContain(`! a: ${note}`);

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
  expect([await one.starts(), await two.starts()]).toEqual([["a"], ["c", "b"]]);

  await two.order("a", "load");
  await until(() => logOf(gateway, "a: no copy is missing").length > 0, "the log tells its end");
  expect((await farmModel(url, "a"))?.note).toBe(null);
  expect(logOf(gateway, "a: ").map(({ level, msg }) => [level, msg])).toEqual([
    ["warn", `a: ${note}`],
    ["info", "a: no copy is missing any more (2 warm)"],
  ]);
});
