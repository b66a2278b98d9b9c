import { describe, expect, it } from "vitest";
import { askChat } from "../harness/ask.ts";
import { cleanupAfter } from "../harness/farmgate-process.ts";
import { askAgain, type KilledFarm, looked, prepareKilledFarm } from "../harness/killed-farm.ts";
import { until } from "../harness/until.ts";

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

/** Who is asked for first after the restart: the model of the moment, another one, or all at once in more memory. */
const WAYS = ["same", "other", "together"] as const;
type Way = (typeof WAYS)[number];

/** What the agent is doing when it is killed; resolves at that moment. `model`: the one that it is done to. */
const MOMENTS: { when: string; model: string; worst: Way; reach: (farm: KilledFarm) => Promise<void> }[] = [
  {
    when: "its script runs and has started an engine",
    model: "pair-a",
    worst: "other",
    async reach(farm) {
      await farm.engine.set("load-ms", 8_000);
      await farm.hold(3);
      askChat(farm.url, "pair-a");
      await farm.noted("in", "pair-a");
    },
  },
  {
    when: "its script runs and has had a service started",
    model: "pair-a",
    worst: "other",
    async reach(farm) {
      await farm.engine.set("load-ms", 8_000);
      await farm.hold(3);
      await farm.starter("setsid");
      askChat(farm.url, "pair-a");
      await farm.noted("in", "pair-a");
    },
  },
  {
    when: "the script has ended and its engine loads",
    model: "pair-a",
    worst: "together",
    async reach(farm) {
      await farm.engine.set("load-ms", 8_000);
      askChat(farm.url, "pair-a");
      await farm.noted("in", "pair-a");
      await until(async () => (await farm.script()).includes("end pair-a"), "the script has ended");
    },
  },
  {
    when: "a script's engine answers",
    model: "pair-a",
    worst: "same",
    reach: (farm) => answering(farm, "pair-a"),
  },
  {
    when: "a command loads",
    model: "solo",
    worst: "same",
    async reach(farm) {
      await farm.engine.set("load-ms", 8_000);
      askChat(farm.url, "solo");
      await farm.noted("in", "solo");
    },
  },
  {
    when: "a command is loaded and idle",
    model: "solo",
    worst: "together",
    reach: (farm) => loaded(farm, "solo"),
  },
  {
    when: "a command answers",
    model: "solo",
    worst: "other",
    reach: (farm) => answering(farm, "solo"),
  },
  {
    when: "an attached engine loads",
    model: "ext-a:latest",
    worst: "other",
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
    worst: "together",
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
    worst: "other",
    async reach(farm) {
      await farm.engine.set("linger-ms", 6_000);
      await loaded(farm, "solo");
      orderUnload(farm, "solo");
      await farm.noted("term", "solo");
    },
  },
  {
    when: "a script's engine goes",
    model: "pair-a",
    worst: "same",
    async reach(farm) {
      await farm.engine.set("linger-ms", 6_000);
      await loaded(farm, "pair-a");
      orderUnload(farm, "pair-a");
      await farm.noted("term", "pair-a");
    },
  },
  {
    when: "an attached engine's model goes when its last answer has ended",
    model: "ext-a:latest",
    worst: "other",
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

/** `FARMGATE_KILLED=all` tries each moment in all ways; else only in that which has most to go wrong. */
const ALL = process.env["FARMGATE_KILLED"] === "all";

describe.concurrent.each(MOMENTS)("an agent that is killed while $when", ({ when, model, worst, reach }) => {
  const others = OTHERS[model] ?? [];
  const ways = {
    same: { budget: 0, asked: [model, ...others] },
    other: { budget: 0, asked: [...others, model] },
    together: { budget: 2, asked: [...others, model] },
  };
  it.for(WAYS.filter((way) => ALL || way === worst))(
    "leaves no engine too many for the next one (first asked for: %s)",
    async (way, { onTestFinished }) => {
      const { budget, asked } = ways[way];
      const farm = await prepareKilledFarm(cleanupAfter(onTestFinished), { budget });
      const killed = await farm.start();
      await reach(farm);
      killed.child.kill("SIGKILL");
      await killed.ended;
      await farm.engine.set("load-ms", 200);
      await farm.hold(0);

      const startedAt = performance.now();
      const agent = farm.run();
      const first = askAgain(farm.url, asked[0] ?? "");
      if (way !== "together") await first;
      const rest = asked.slice(1).map((other) => askAgain(farm.url, other));
      const answers = await Promise.all([first, ...rest]);
      const firstByteAt = Math.min(...answers.map((answer) => answer.firstByteAt));
      console.log(
        `killed while ${when}, ${way}: first byte ${Math.round(firstByteAt - startedAt)} ms after the restart`,
      );
      for (const answer of answers) {
        expect(answer).toMatchObject({ status: 200, complete: true });
        expect(answer.body.endsWith("data: [DONE]\n\n")).toBe(true);
      }
      expect(await agent.stop()).toBe(0);
      const { most, twice } = looked(await farm.residences());
      expect(most).toBeLessThanOrEqual(Math.max(budget, 1));
      expect(twice).toEqual([]);
      expect(await farm.orphans()).toEqual([]);
    },
  );
});
