import { afterEach, describe, expect, it } from "vitest";
import { askChat } from "../harness/ask.ts";
import { Cleanup } from "../harness/farmgate-process.ts";
import { askAgain, type KilledFarm, looked, prepareKilledFarm } from "../harness/killed-farm.ts";
import { until } from "../harness/until.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const LONG = { max_tokens: 500 };

/** Has a model loaded. */
async function loaded(farm: KilledFarm, model: string): Promise<void> {
  expect(await askChat(farm.url, model).answer).toMatchObject({ status: 200, complete: true });
}

/** Asks for a long answer and resolves when it has begun. */
async function answering(farm: KilledFarm, model: string): Promise<void> {
  const asked = askChat(farm.url, model, LONG);
  await asked.firstByte;
}

const orderUnload = (farm: KilledFarm, model: string) =>
  void fetch(`${farm.url}/models/${model}/unload`, { method: "POST" }).catch(() => {});

/** What the agent is doing when it is killed; resolves at that moment. `model`: the one that it is done to. */
const MOMENTS: { when: string; model: string; reach: (farm: KilledFarm) => Promise<void> }[] = [
  {
    when: "its script runs and has started an engine",
    model: "pair-a",
    async reach(farm) {
      await farm.engine.set("load-ms", 1_500);
      await farm.hold(3);
      askChat(farm.url, "pair-a");
      await farm.noted("in", "pair-a");
    },
  },
  {
    when: "its script runs and has had a service started",
    model: "pair-a",
    async reach(farm) {
      await farm.engine.set("load-ms", 1_500);
      await farm.hold(3);
      await farm.starter("setsid");
      askChat(farm.url, "pair-a");
      await farm.noted("in", "pair-a");
    },
  },
  {
    when: "the script has ended and its engine loads",
    model: "pair-a",
    async reach(farm) {
      await farm.engine.set("load-ms", 3_000);
      askChat(farm.url, "pair-a");
      await farm.noted("in", "pair-a");
      await until(async () => (await farm.script()).includes("end pair-a"), "the script has ended");
    },
  },
  {
    when: "a script's engine answers",
    model: "pair-a",
    reach: (farm) => answering(farm, "pair-a"),
  },
  {
    when: "a command loads",
    model: "solo",
    async reach(farm) {
      await farm.engine.set("load-ms", 3_000);
      askChat(farm.url, "solo");
      await farm.noted("in", "solo");
    },
  },
  {
    when: "a command is loaded and idle",
    model: "solo",
    reach: (farm) => loaded(farm, "solo"),
  },
  {
    when: "a command answers",
    model: "solo",
    reach: (farm) => answering(farm, "solo"),
  },
  {
    when: "an attached engine loads",
    model: "ext-a:latest",
    async reach(farm) {
      farm.ollama.models.loadMs = 2_500;
      askChat(farm.url, "ext-a");
      await until(() => farm.ollama.models.count("load") > 0, "the engine loads");
      farm.ollama.models.loadMs = 200;
    },
  },
  {
    when: "an attached engine answers",
    model: "ext-a:latest",
    async reach(farm) {
      await loaded(farm, "ext-a");
      farm.ollama.models.answerMs = 1_500;
      askChat(farm.url, "ext-a");
      await until(() => farm.ollama.models.count("request") > 1, "the engine answers");
    },
  },
  {
    when: "a command goes",
    model: "solo",
    async reach(farm) {
      await farm.engine.set("linger-ms", 2_000);
      await loaded(farm, "solo");
      orderUnload(farm, "solo");
      await farm.noted("term", "solo");
    },
  },
  {
    when: "a script's engine goes",
    model: "pair-a",
    async reach(farm) {
      await farm.engine.set("linger-ms", 3_000);
      await loaded(farm, "pair-a");
      orderUnload(farm, "pair-a");
      await farm.noted("term", "pair-a");
    },
  },
  {
    when: "an attached engine's model goes when its last answer has ended",
    model: "ext-a:latest",
    async reach(farm) {
      await loaded(farm, "ext-a");
      farm.ollama.models.answerMs = 2_500;
      askChat(farm.ollama.url, "ext-a");
      await until(() => farm.ollama.models.count("request") > 1, "another client's answer runs");
      farm.ollama.models.answerMs = 30;
      orderUnload(farm, "ext-a");
      await until(() => farm.agentSaid().includes("unloading ext-a"), "the unload is under way");
    },
  },
];

/** The model of the moment, another one of its kind and one of each other kind; the first is asked for first. */
const OTHERS: Readonly<Record<string, readonly string[]>> = {
  "pair-a": ["solo", "pair-b", "ext-b:latest"],
  solo: ["pair-b", "duo", "ext-b:latest"],
  "ext-a:latest": ["solo", "ext-b:latest", "pair-b"],
};

describe.each(MOMENTS)("an agent that is killed while $when", ({ when, model, reach }) => {
  const others = OTHERS[model] ?? [];
  it.each([
    { budget: 0, first: "the same model", asked: [model, ...others] },
    { budget: 0, first: "another model", asked: [...others, model] },
    { budget: 2, first: "all of them at once", asked: [...others, model] },
  ])(
    "leaves no engine too many for the next one, asked for $first, with room for $budget",
    async ({ budget, first, asked }) => {
      const farm = await prepareKilledFarm(cleanup, { budget });
      const killed = await farm.start();
      await reach(farm);
      killed.child.kill("SIGKILL");
      await killed.ended;
      await farm.engine.set("load-ms", 200);
      await farm.hold(0);

      const startedAt = performance.now();
      const agent = farm.run();
      const [name = ""] = asked;
      const answer = await askAgain(farm.url, name);
      console.log(
        `killed while ${when}, room for ${budget}, then ${first}:`,
        `${Math.round(answer.firstByteAt - startedAt)} ms from the restart to the first byte`,
      );
      const rest = await Promise.all(asked.slice(1).map((other) => askAgain(farm.url, other)));
      for (const one of [answer, ...rest]) {
        expect(one).toMatchObject({ status: 200, complete: true });
        expect(one.body.endsWith("data: [DONE]\n\n")).toBe(true);
      }
      expect(await agent.stop()).toBe(0);
      const { most, twice } = looked(await farm.residences());
      expect(most, agent.output()).toBeLessThanOrEqual(Math.max(budget, 1));
      expect(twice).toEqual([]);
      expect(await farm.orphans()).toEqual([]);
    },
  );
});
