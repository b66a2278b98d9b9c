import { seededRandom } from "@farmgate/shared";
import { afterEach, expect, it } from "vitest";
import { type Asked, askChat, getJson } from "../harness/ask.ts";
import { Cleanup } from "../harness/farmgate-process.ts";
import { MODEL_GB, type Residence, startMixedAgent } from "../harness/mixed-agent.ts";
import { until } from "../harness/until.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

/** Seconds of real time; a long run is asked for by FARMGATE_SOAK_SECONDS. */
const SECONDS = Number(process.env["FARMGATE_SOAK_SECONDS"] ?? 12);

it(
  "an agent with a script, a command and an attached engine keeps its budget and loses nothing",
  async () => {
    const farm = await startMixedAgent(cleanup, 300);
    const random = seededRandom(Number(process.env["FARMGATE_SOAK_SEED"] ?? 11));
    const asked: { model: string; asked: Asked; leaves: boolean }[] = [];
    const end = performance.now() + SECONDS * 1_000;
    while (performance.now() < end) {
      const model = farm.models[Math.floor(random() ** 1.5 * farm.models.length)] ?? "solo";
      const burst = 1 + Math.floor(random() * 5);
      for (let i = 0; i < burst; i += 1) {
        const one = askChat(farm.url, model, { max_tokens: 5 + Math.floor(random() * 40), seed: asked.length });
        const leaves = random() < 0.1;
        asked.push({ model, asked: one, leaves });
        if (leaves) setTimeout(one.leave, random() * 600);
      }
      await new Promise((resolve) => setTimeout(resolve, 50 + random() * 900));
    }
    const answers = await Promise.all(
      asked.map(async ({ model, asked: one, leaves }) => ({ model, leaves, answer: await one.answer })),
    );
    await until(async () => (await getJson<{ inflight: number }>(`${farm.url}/health`)).inflight === 0, "all is quiet");

    const lines = farm.agent
      .stdout()
      .split("\n")
      .filter((line) => line.startsWith("{"));
    const logged = lines.map((line) => JSON.parse(line) as { msg: string; waited_ms?: number; status?: number });
    const waits = logged.flatMap(({ waited_ms: waited }) => (waited === undefined || waited === null ? [] : [waited]));
    const metrics = await (await fetch(`${farm.url}/metrics`)).text();
    const residences = await farm.residences();
    const loads = residences.filter(({ what }) => what === "in").length;
    const stayed = answers.filter(({ leaves }) => !leaves);
    console.log(
      `mixed agent, ${SECONDS} s of real time: ${asked.length} requests, ${asked.length - stayed.length} callers left,`,
      `${loads} loads, ${sum(metrics, "farmgate_agent_evictions_total")} evictions,`,
      `longest wait ${(Math.max(...waits) / 1_000).toFixed(1)} s,`,
      `mean ${(waits.reduce((all, wait) => all + wait, 0) / waits.length / 1_000).toFixed(2)} s,`,
      `most in memory ${mostInMemory(residences)} of ${2 * MODEL_GB} GB`,
    );

    for (const { model, answer } of stayed) {
      expect(answer).toMatchObject({ status: 200, complete: true });
      expect(answer.body.endsWith("data: [DONE]\n\n")).toBe(true);
      for (const told of answer.body.matchAll(/"model":"([^"]+)"/g)) expect(told[1]).toBe(model);
    }
    expect(mostInMemory(residences)).toBeLessThanOrEqual(2 * MODEL_GB);
    expect(twiceAtOnce(residences)).toEqual([]);
    expect(sum(metrics, "farmgate_agent_inflight")).toBe(0);
    expect(Math.max(...waits)).toBeLessThan(30_000);
  },
  SECONDS * 1_000 + 60_000,
);

/** Gigabytes, looked at after each event. */
function mostInMemory(residences: readonly Residence[]): number {
  let now = 0;
  let most = 0;
  for (const { what } of residences) {
    now += what === "in" ? MODEL_GB : -MODEL_GB;
    most = Math.max(most, now);
  }
  return most;
}

/** Models that came in while they were in already. */
function twiceAtOnce(residences: readonly Residence[]): string[] {
  const inMemory = new Set<string>();
  const twice: string[] = [];
  for (const { what, model } of residences) {
    if (what === "out") inMemory.delete(model);
    else if (inMemory.has(model)) twice.push(model);
    else inMemory.add(model);
  }
  return twice;
}

function sum(metrics: string, name: string): number {
  return metrics
    .split("\n")
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .reduce((total, line) => total + Number(line.slice(line.lastIndexOf(" "))), 0);
}
