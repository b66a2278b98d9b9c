import { catalogSchema } from "@farmgate/shared";
import { describe, expect, it } from "vitest";
import { startRig } from "./support/agent-rig.ts";
import { until } from "./support/conditions.ts";
import { startHeldRig } from "./support/held-rig.ts";

const catalogue = async (url: string) => catalogSchema.parse(await (await fetch(`${url}/catalog`)).json());

describe("who waits at an agent", () => {
  it("is told of in its catalogue by the request's id, with place, wait and the longest wait that is left", async () => {
    const rig = await startHeldRig({ swap: { timeout: "3m" } });
    const answers = [rig.chat("a", "1")];
    await until(() => rig.asked.length === 1);
    for (const id of ["first", "second"]) {
      answers.push(rig.chat("b", id, { headers: { "x-request-id": id } }));
      await until(async () => (await catalogue(rig.agent.url)).queue.waiting.some((one) => one.id === id));
    }
    const { queue, models } = await catalogue(rig.agent.url);
    expect(queue.waiting.map(({ id, model, position }) => [id, model, position])).toEqual([
      ["first", "b", 1],
      ["second", "b", 2],
    ]);
    // maxWait, and two times a load and a turn: 1 + 2 * (3 + 3 + 1) minutes, and the gathering of bursts.
    const [first] = queue.waiting;
    expect((first?.waited_ms ?? 0) + (first?.bound_ms ?? 0)).toBeGreaterThan(15 * 60_000);
    expect((first?.waited_ms ?? 0) + (first?.bound_ms ?? 0)).toBeLessThan(15 * 60_000 + 1_000);
    // A newcomer for b would be the third in a queue whose model has one slot.
    expect(models.map(({ wait_bound_ms }) => wait_bound_ms)).toEqual([900_200, 60_000 + 3 * 2 * 420_100]);
    rig.release();
    for (const answer of answers) expect((await answer).status).toBe(200);
    expect((await catalogue(rig.agent.url)).queue.waiting).toEqual([]);
    await until(async () => (await catalogue(rig.agent.url)).models[0]?.service_ms !== null);
  });
});

describe("metrics", () => {
  it("tell what is loaded in bytes, and each model that made room for another", async () => {
    const rig = await startRig();
    await rig.chat("a");
    await rig.chat("b");
    const text = await (await fetch(`${rig.agent.url}/metrics`)).text();
    expect(text).toContain('farmgate_agent_evictions_total{model="a"} 1');
    expect(text).toContain('farmgate_agent_memory_bytes{kind="budget"} 0');
    expect(text).toContain('farmgate_agent_memory_bytes{kind="used"} 0');
    // Of the process itself, which holds neither the models nor their engines.
    expect(text).toMatch(/^nodejs_heap_size_used_bytes [1-9]/m);
  });
});
