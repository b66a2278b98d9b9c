import { afterEach, expect, it } from "vitest";
import { type Answer, askChat } from "../harness/ask.ts";
import { startMachine } from "../harness/command-machine.ts";
import { explained, farmgateSays, logOf, metric } from "../harness/farm-words.ts";
import { Cleanup } from "../harness/farmgate-process.ts";
import { startTestGateway } from "../harness/gateway-farm.ts";
import { until } from "../harness/until.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const BOTH = { memory: { budget: "16gb" } };
const SIZE = { settings: { memory: "4gb" } };
const workerOf = ({ headers }: Answer) => headers["x-farmgate-worker"];

it("a model that hangs on one machine is put aside there, the machine's other model is served on, and it comes back by itself", async () => {
  const models = [
    { name: "good", ...SIZE },
    { name: "ill", ...SIZE },
  ];
  const ill = models.map((model) => (model.name === "ill" ? { ...model, fail: "hang@ill:3" } : model));
  const [one, two] = await Promise.all([
    startMachine(cleanup, "one", ill, BOTH),
    startMachine(cleanup, "two", models, BOTH),
  ]);
  await Promise.all(["good", "ill"].map((name) => one.order(name, "load")));
  const workers = { one: one.url, two: two.url };
  const { gateway, url, farm } = await startTestGateway(cleanup, workers, {
    timeouts: { firstByte: "2s" },
    retry: { attempts: 1 },
  });
  const breakerOpen = () => metric(url, 'farmgate_breaker_open{worker="one",model="ill"}');
  const stateOfOne = async () => (await farm()).find(({ name }) => name === "one")?.state;

  const failed: Answer[] = [];
  for (let i = 0; i < 3; i += 1) {
    expect(await stateOfOne()).toBe("healthy");
    const [hung, served] = await Promise.all([askChat(url, "ill").answer, askChat(url, "good").answer]);
    failed.push(hung);
    expect([served.status, workerOf(served)]).toEqual([200, "one"]);
  }
  expect(failed.map(({ status }) => status)).toEqual([504, 504, 504]);
  const openedAt = performance.now();
  expect(await stateOfOne()).toBe("degraded");
  expect(await breakerOpen()).toBe(1);
  const status = await farmgateSays(url, "status");
  expect(status).toMatch(/one\s+degraded/);
  expect(status).toContain("breaker open for ill: 3 requests in a row failed there");

  const [elsewhere, here] = await Promise.all([askChat(url, "ill").answer, askChat(url, "good").answer]);
  expect([elsewhere.status, workerOf(elsewhere)]).toEqual([200, "two"]);
  expect([here.status, workerOf(here)]).toEqual([200, "one"]);
  expect((await explained(url, "ill")).ranked.map(({ worker }) => worker)).toEqual(["two", "one"]);

  // The trial is a caller's request, and both machines are warm: it goes there by turn.
  const answers: Answer[] = [];
  await until(
    async () => {
      answers.push(await askChat(url, "ill", { seed: answers.length }).answer);
      await new Promise((resolve) => setTimeout(resolve, 200));
      return (await stateOfOne()) === "healthy";
    },
    "the breaker closes",
    50_000,
  );
  const closedMs = performance.now() - openedAt;
  console.log(
    `breaker: open for ${(closedMs / 1_000).toFixed(1)} s, ${answers.length} requests meanwhile, 0 of them lost`,
  );
  expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]));
  expect(answers.findIndex((answer) => workerOf(answer) === "one")).toBe(answers.length - 1);
  expect(closedMs).toBeGreaterThan(25_000);
  expect(await breakerOpen()).toBe(0);
  const told = logOf(gateway).filter(({ worker, msg }) => worker === "one" && /\bill\b/.test(msg));
  expect(told.map(({ msg }) => msg)).toEqual([
    "one gets no ill for now: 3 requests in a row failed there (no answer in time); next trial in 30 s",
    "one answers with ill again",
  ]);
}, 120_000);
