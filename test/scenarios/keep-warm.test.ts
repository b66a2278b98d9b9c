import { afterEach, describe, expect, it } from "vitest";
import { type Answer, askChat } from "../harness/ask.ts";
import { type CommandMachine, startMachine } from "../harness/command-machine.ts";
import { farmgateSays, farmModel, logOf, metric } from "../harness/farm-words.ts";
import { Cleanup } from "../harness/farmgate-process.ts";
import { startTestGateway } from "../harness/gateway-farm.ts";
import { until } from "../harness/until.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

/** Three machines that have `m`, of which two are to have it warm, once they do. */
async function startKeptFarm(interval: string) {
  const names = ["one", "two", "three"];
  const models = [{ name: "m", tokensPerSecond: 200 }];
  const machines = await Promise.all(names.map((name) => startMachine(cleanup, name, models)));
  const startedAt = performance.now();
  const workers = Object.fromEntries(machines.map(({ name, url }) => [name, url]));
  const config = { health: { interval, timeout: "2s" }, models: { keepWarm: { m: 2 } } };
  const { gateway, url, farm } = await startTestGateway(cleanup, workers, config);
  await until(async () => (await farmModel(url, "m"))?.warm_copies === 2, "two warm copies");
  const firstMs = performance.now() - startedAt;
  const isWarm = await Promise.all(machines.map(async (machine) => (await machine.state("m")) === "warm"));
  const [victim, left, none] = machines.filter((_, i) => isWarm[i]);
  const spare = machines.find((_, i) => !isWarm[i]);
  if (victim === undefined || left === undefined || spare === undefined || none !== undefined) {
    throw new Error(`not two of three are warm: ${isWarm.join(", ")}`);
  }
  return { gateway, url, farm, machines, firstMs, victim, left, spare };
}

/** Four callers who ask again and again until `stop`. */
function keepAsking(url: string) {
  const answers: Answer[] = [];
  const ending = new AbortController();
  const caller = async (_: unknown, i: number) => {
    while (!ending.signal.aborted) answers.push(await askChat(url, "m", { seed: answers.length * 4 + i }).answer);
  };
  const callers = Array.from({ length: 4 }, caller);
  return {
    answers,
    async stop() {
      ending.abort();
      await Promise.all(callers);
      return answers;
    },
  };
}

async function startsOf(machines: readonly CommandMachine[]): Promise<number> {
  return (await Promise.all(machines.map((machine) => machine.starts()))).flat().length;
}

describe("a model of which two warm copies are kept on three machines", () => {
  it("has two again soon after one of them is killed, nothing is lost, and its return changes nothing", async () => {
    const { gateway, url, farm, machines, firstMs, victim, left, spare } = await startKeptFarm("200ms");
    expect(await metric(url, 'farmgate_keep_warm_wanted{model="m"}')).toBe(2);
    expect(await metric(url, 'farmgate_keep_warm_missing{model="m"}')).toBe(0);
    const asking = keepAsking(url);
    await until(() => asking.answers.length >= 20, "requests flow");
    const killedAt = performance.now();
    await victim.kill();
    const notes = new Set<string>();
    let missing = 0;
    await until(async () => {
      const model = await farmModel(url, "m");
      if (model?.note != null) notes.add(model.note);
      missing = Math.max(missing, (await metric(url, 'farmgate_keep_warm_missing{model="m"}')) ?? 0);
      const onSpare = model?.states.find(({ worker }) => worker === spare.name)?.state === "warm";
      return onSpare && model?.warm_copies === 2;
    }, "two warm copies again");
    const againMs = performance.now() - killedAt;
    const answers = await asking.stop();
    const whole = answers.filter(({ status, body }) => status === 200 && body.endsWith("data: [DONE]\n\n"));
    const cut = answers.filter(({ body }) => body.includes('"error"'));
    console.log(
      `keepWarm: two warm ${firstMs.toFixed(0)} ms after the gateway's start, two again ${againMs.toFixed(0)} ms after`,
      `a kill; of ${answers.length} requests ${whole.length} whole, ${cut.length} cut in their stream and told, 0 lost`,
    );
    expect(againMs).toBeLessThan(10_000);
    expect(whole.length + cut.length).toBe(answers.length);
    expect(cut.length).toBeLessThanOrEqual(4);
    for (const { status, complete } of cut) expect([status, complete]).toEqual([200, true]);
    expect([...notes]).toEqual(["1 of 2 warm copies, more on the way"]);
    expect(missing).toBe(1);
    expect(logOf(gateway, "ordered a load to keep the model warm").map(({ worker }) => worker)).toEqual([
      ...machines.filter((machine) => machine !== spare).map(({ name }) => name),
      spare.name,
    ]);
    const status = await farmgateSays(url, "status");
    const warmNow = machines.filter((machine) => machine !== victim).map(({ name }) => name);
    expect(status).toContain(`warm on ${warmNow.join(", ")}; unknown on ${victim.name}`);
    expect(await metric(url, `farmgate_model_warm{worker="${victim.name}",model="m"}`)).toBe(0);

    const starts = await startsOf(machines);
    await victim.start();
    const victimState = async () => (await farm()).find(({ name }) => name === victim.name);
    await until(async () => (await victimState())?.state === "healthy", "the killed machine is back");
    const watchedUntil = performance.now() + 5_000;
    while (performance.now() < watchedUntil) {
      const model = await farmModel(url, "m");
      expect([model?.warm_copies, model?.warm.toSorted(), model?.note]).toEqual([2, warmNow.toSorted(), null]);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(await startsOf(machines)).toBe(starts);
    expect([left.log, spare.log, victim.log].join("\n")).not.toContain("unloading");
    expect(logOf(gateway, "ordered a load")).toHaveLength(3);
  });

  it("has two again after a kill that only the polls of every five seconds can notice", async () => {
    const { url, victim, spare } = await startKeptFarm("5s");
    const killedAt = performance.now();
    await victim.kill();
    await until(async () => (await spare.state("m")) === "warm", "the spare machine has it");
    const loadedMs = performance.now() - killedAt;
    await until(async () => {
      const model = await farmModel(url, "m");
      return model?.warm_copies === 2 && model.warm.includes(spare.name);
    }, "the gateway knows");
    const knownMs = performance.now() - killedAt;
    console.log(
      `keepWarm, polls of 5 s, nobody asks: loaded ${(loadedMs / 1_000).toFixed(1)} s after the kill,`,
      `known ${(knownMs / 1_000).toFixed(1)} s after it`,
    );
    expect(loadedMs).toBeLessThan(15_000);
  });
});
