import { describe, expect, it } from "vitest";
import { Scheduler } from "../../src/queue/scheduler.ts";
import type { ModelRules } from "../../src/queue/types.ts";
import { Drive } from "./drive.ts";
import { modelRules, rulesFor, type Arrival, type Workload } from "./workload.ts";

const job = (id: string, at: number, model: string, over: Partial<Arrival> = {}): Arrival => ({
  id,
  at,
  model,
  ...over,
});

/** Models of these sizes, one slot each, with a budget of 10. */
function sized(sizes: Record<string, number>, over: Record<string, Partial<ModelRules>> = {}) {
  return Object.entries(sizes).map(([name, memory]) => modelRules(name, { memory, ...over[name] }));
}

function run(sizes: Record<string, number>, work: Partial<Workload> & Pick<Workload, "arrivals">, over = {}): Drive {
  const rules = rulesFor({}, { budget: 10, models: sized(sizes), ...over });
  return new Drive({ rules, loadMs: 1_000, ...work }).run();
}

const victims = (drive: Drive) => drive.swapEffects.map((swap) => `${swap.model}<${swap.victims.join("+")}`);

/** An endless stream of answers of a second each. */
const stream = (model: string, count = 300): Arrival[] =>
  Array.from({ length: count }, (_, index) => job(`${model}${index}`, index * 1_000, model, { answerMs: 1_000 }));

describe("models that fit together", () => {
  it("are loaded beside each other and answer at the same time", () => {
    const arrivals = [job("a", 0, "a", { answerMs: 9_000 }), job("b", 10, "b", { answerMs: 9_000 })];
    const drive = run({ a: 4, b: 6 }, { found: "a", arrivals });
    expect(victims(drive)).toEqual(["b<"]);
    expect(drive.grantedAt.get("b")).toBe(1_010);
  });

  it("go on being served while another one is loaded", () => {
    const arrivals = [job("b", 0, "b"), job("a", 100, "a")];
    expect(run({ a: 4, b: 6 }, { found: "a", arrivals }).grantedAt.get("a")).toBe(100);
  });

  it("are loaded one after the other", () => {
    const drive = run({ a: 3, b: 3, c: 3 }, { arrivals: [job("a", 0, "a"), job("b", 0, "b"), job("c", 0, "c")] });
    expect([...drive.grantedAt.values()]).toEqual([1_000, 2_000, 3_000]);
  });

  it("make room by the idle ones first, however cheap a busy one were", () => {
    const arrivals = [...stream("busy", 100), job("c", 70_500, "c")];
    const costs = { reloadMs: (model: string) => (model === "idle" ? 90_000 : 1) };
    const drive = run({ busy: 4, idle: 4, c: 4 }, { found: ["busy", "idle"], costs, arrivals });
    expect(victims(drive)).toEqual(["c<idle"]);
  });

  it("make room by the cheapest sufficient set", () => {
    const costs = { reloadMs: (model: string) => ({ a: 60_000, b: 10_000, c: 10_000 })[model] ?? null };
    const drive = run({ a: 5, b: 2, c: 3, d: 5 }, { found: ["a", "b", "c"], costs, arrivals: [job("d", 5_000, "d")] });
    expect(victims(drive)).toEqual(["d<b+c"]);
  });
});

describe("R8, a model that has to wait for busy ones", () => {
  it("is passed by one that fits as long as it is not due, and by none from then on", () => {
    const late = [job("c", 30_000, "c"), job("d", 70_000, "d")];
    const answer = { answerMs: 90_000 };
    const arrivals = [job("a", 0, "a", answer), job("big", 100, "big"), ...late];
    const drive = run({ a: 4, big: 10, c: 3, d: 3 }, { found: "a", arrivals });
    expect(drive.swaps).toEqual(["c", "big", "d"]);
    expect(drive.grantedAt.get("big")).toBe(91_000);
  });

  it("is passed by none although nobody may make room for it yet", () => {
    const arrivals = [job("a", 0, "a"), job("big", 100, "big"), job("c", 70_000, "c")];
    const drive = run({ a: 4, big: 10, c: 3 }, { found: "a", arrivals }, { minResident: 80_000 });
    expect(drive.swaps).toEqual(["big", "c"]);
    expect(drive.grantedAt.get("big")).toBe(81_000);
  });

  it("shuts all its victims' gates together once it is due, also to free slots", () => {
    const models = sized({ a: 5, b: 5, c: 10 }).map((model) => ({ ...model, slots: 2 }));
    const arrivals = [...stream("a", 100), ...stream("b", 100), job("c", 10_500, "c")];
    const drive = run({}, { found: ["a", "b"], arrivals }, { models });
    expect(victims(drive)[0]).toBe("c<a+b");
    expect(drive.grantedAt.get("c")).toBeLessThanOrEqual(10_500 + 60_000 + 1_000 + 1_000);
    for (const model of ["a", "b"]) expect(drive.grantedAt.get(`${model}72`)).toBeGreaterThan(72_000);
  });

  it("opens the gates again only when nobody waits for it any more", () => {
    const rules = { maxWait: 1_000 };
    const busy = [job("a", 0, "a", { answerMs: 9_000 }), job("b", 0, "b", { answerMs: 5_000 })];
    const arrivals = [...busy, job("c", 10, "c", { leaveAt: 6_000 }), job("late", 5_500, "b")];
    const drive = run({ a: 5, b: 5, c: 10 }, { found: ["a", "b"], arrivals }, rules);
    expect(drive.grantedAt.get("late")).toBe(6_000);
    expect(drive.swaps).toEqual([]);
  });

  it("goes on when a victim is gone by itself", () => {
    const arrivals = [job("a", 0, "a", { answerMs: 9_000 }), job("b", 10, "b")];
    const drive = run({ a: 6, b: 6 }, { found: "a", lostAt: [2_000], arrivals }, { maxWait: 1_000 });
    expect(drive.grantedAt.get("b")).toBe(3_000);
  });

  it("leaves those standing that a failed swap did not take", () => {
    const arrivals = [job("c", 0, "c"), job("b", 3_000, "b")];
    const work = { found: ["a", "b"], fails: () => true, still: (gone: readonly string[]) => gone.slice(1), arrivals };
    const drive = run({ a: 5, b: 5, c: 10 }, work);
    expect(drive.ended.get("c")?.how).toBe("load_failed");
    expect(drive.grantedAt.get("b")).toBe(3_000);
    expect(drive.scheduler.view(4_000).loaded).toEqual(["b"]);
  });
});

describe("a pinned model", () => {
  const models = sized({ p: 5, a: 5, b: 5 }, { p: { pinned: true } });

  it("is no victim, and its memory counts", () => {
    const drive = run({}, { found: ["p", "a"], arrivals: [job("b", 0, "b")] }, { models });
    expect(victims(drive)).toEqual(["b<a"]);
  });

  it("leaves no room for one that needs more, which is refused at once with both sizes", () => {
    const large = [...models, modelRules("large", { memory: 7 * 1_024 })];
    const drive = run({}, { found: "p", arrivals: [job("x", 5, "large")] }, { models: large, budget: 10 * 1_024 - 1 });
    expect(drive.ended.get("x")).toMatchObject({ how: "done" });
    const tight = run({}, { found: "p", arrivals: [job("x", 5, "large")] }, { models: large, budget: 7 * 1_024 });
    expect(tight.ended.get("x")).toMatchObject({ how: "load_failed", at: 5, retryAfterS: null });
    expect(tight.ended.get("x")?.message).toContain("needs 7 KB");
  });
});

describe("models that come and go by an engine's own will", () => {
  it("are loaded although they do not fit, and then nothing else is until it fits again", () => {
    const arrivals = [job("a", 0, "a", { answerMs: 5_000 }), job("c", 2_000, "c")];
    const drive = run({ a: 6, b: 8, c: 2 }, { found: "a", foundAt: [{ at: 1_000, model: "b" }], arrivals });
    expect(victims(drive)).toEqual(["c<b"]);
  });

  it("are gone with a list that does not name them, and who waits for them is told", () => {
    const list = sized({ a: 6 });
    const arrivals = [job("a", 0, "a", { answerMs: 5_000 }), job("b", 10, "b"), job("later", 2_000, "b")];
    const drive = run({ a: 6, b: 6 }, { found: "a", lists: [{ at: 1_000, models: list }], arrivals });
    expect(drive.ended.get("b")).toMatchObject({ how: "model_not_found", at: 1_000 });
    expect(drive.ended.get("later")).toMatchObject({ how: "model_not_found", at: 2_000 });
    expect(drive.ended.get("a")?.how).toBe("done");
  });

  it("let what runs of them end", () => {
    const lists = [
      { at: 1_000, models: sized({ b: 6 }) },
      { at: 2_000, models: sized({ a: 6, b: 6 }) },
    ];
    const drive = run({ a: 6, b: 6 }, { found: "a", lists, arrivals: [job("a", 0, "a", { answerMs: 5_000 })] });
    expect(drive.ended.get("a")).toMatchObject({ how: "done", at: 5_000 });
  });
});

describe("the queue as others see it", () => {
  it("lists who waits in the order in which each model takes them", () => {
    const scheduler = new Scheduler(rulesFor({ a: 1, b: 1 }));
    const arrive = (
      id: string,
      model: string,
      at: number,
      caller = "x",
      priority: "interactive" | "batch" = "interactive",
    ) =>
      scheduler.on(
        {
          type: "arrive",
          job: { id, requestId: `r${id}`, model, caller, priority, arrivedAt: at, deadlineAt: null, kind: "request" },
        },
        at,
      );
    arrive("1", "b", 0);
    for (const [id, caller, priority] of [
      ["2", "x", "batch"],
      ["3", "x", "interactive"],
      ["4", "x", "interactive"],
      ["5", "y", "interactive"],
    ] as const) {
      arrive(id, "a", Number(id), caller, priority);
    }
    const list = scheduler.waiting(10, 10);
    expect(list.map(({ id, model, position }) => `${id} ${model} ${position}`)).toEqual([
      "1 b 1",
      "3 a 1",
      "5 a 2",
      "4 a 3",
      "2 a 4",
    ]);
    expect(list[1]).toMatchObject({ requestId: "r3", waitedMs: 7 });
    for (const { id, position } of list) expect(scheduler.position(id, 10)?.position).toBe(position);
    expect(scheduler.waiting(10, 2).map(({ id }) => id)).toEqual(["1", "3"]);
  });
});
