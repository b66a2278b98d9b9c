import { readFile, writeFile } from "node:fs/promises";
import { afterEach, expect, it } from "vitest";
import { type Answer, askChat, getJson } from "../harness/ask.ts";
import { startMachine } from "../harness/command-machine.ts";
import { farmgateSays, farmModel, logOf, metric } from "../harness/farm-words.ts";
import { Cleanup } from "../harness/farmgate-process.ts";
import { startTestGateway } from "../harness/gateway-farm.ts";
import { until } from "../harness/until.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

interface Placement {
  mode: string;
  plan: { actions: { kind: string; workers: string[]; not: string | null }[] } | null;
  done: { kind: string; worker: string; failed: string | null }[];
}

/** Callers who ask for `m` again and again until `stop`. */
function burst(url: string, callers: number) {
  const answers: Answer[] = [];
  const ending = new AbortController();
  const caller = async () => {
    while (!ending.signal.aborted) answers.push(await askChat(url, "m", { max_tokens: 20 }).answer);
  };
  const all = Array.from({ length: callers }, caller);
  return {
    answers,
    async stop() {
      ending.abort();
      await Promise.all(all);
      return answers;
    },
  };
}

it("a burst for one model on two machines: advise orders nothing, auto brings a copy up and keeps it while nobody wants its room", async () => {
  const models = [{ name: "m", slots: 1, load: "0ms", tokensPerSecond: 100 }];
  const machines = await Promise.all(["one", "two"].map((name) => startMachine(cleanup, name, models)));
  await machines[0]?.order("m", "load");
  const starts = async () => (await Promise.all(machines.map((machine) => machine.starts()))).flat().length;
  const workers = Object.fromEntries(machines.map(({ name, url }) => [name, url]));
  const quick = { target: "100ms", window: "1s", elasticEvery: "50ms", stableEvery: "300ms", hold: "300ms" };
  const folder = await cleanup.folder();
  const { gateway, url } = await startTestGateway(cleanup, workers, {
    health: { interval: "100ms", timeout: "2s" },
    placement: { ...quick, mode: "advise", stateDir: folder },
  });
  const placement = async () => (await getJson<{ placement: Placement }>(`${url}/farm/placement`)).placement;
  const copies = async () => (await farmModel(url, "m"))?.warm_copies;

  const asking = burst(url, 6);
  await until(async () => (await placement()).plan?.actions[0]?.kind === "activate", "advice to load another copy");
  await until(async () => logOf(gateway, "placement would activate m").length > 0, "the advice in the log");
  expect([(await placement()).done, await starts(), await copies()]).toEqual([[], 1, 1]);

  await writeFile(gateway.file, (await readFile(gateway.file, "utf8")).replace("advise", "auto"));
  gateway.child.kill("SIGHUP");
  await until(async () => (await copies()) === 2, "a second copy");
  expect(await metric(url, 'farmgate_placement_actions_total{kind="load",result="taken"}')).toBeGreaterThanOrEqual(1);
  const answers = await asking.stop();
  expect(answers.filter(({ status, body }) => status !== 200 || !body.endsWith("data: [DONE]\n\n"))).toEqual([]);

  const kept = async () => (await placement()).plan?.actions.map(({ kind, not }) => `${kind}: ${not}`) ?? [];
  await until(async () => (await kept()).some((line) => /^release: \w+ keeps it/.test(line)), "it has nothing to do");
  const { mode, done } = await placement();
  expect([mode, await copies(), done]).toMatchObject(["auto", 2, [{ kind: "load", worker: "two", failed: null }]]);
  expect(await farmgateSays(url, "placement")).toMatch(/placement is on \(auto\), for 95 % within 100 ms[^]*load m on/);
  await gateway.stop();
  expect(JSON.parse(await readFile(`${folder}/oracles.json`, "utf8"))).toMatchObject({ version: 1 });
});
