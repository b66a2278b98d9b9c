import { describe, expect, it } from "vitest";
import type { ModelRules } from "../../src/queue/types.ts";
import { Drive } from "./drive.ts";
import { type Arrival, modelRules, rulesFor, type Workload } from "./workload.ts";

const job = (id: string, at: number, model: string, over: Partial<Arrival> = {}): Arrival => ({
  id,
  at,
  model,
  ...over,
});

function drive(models: ModelRules[], work: Partial<Workload> = {}, over = {}): Drive {
  const rules = rulesFor({}, { budget: 10, models, ...over });
  return new Drive({ rules, loadMs: 1_000, startAt: 1, arrivals: [], ...work });
}

describe("ttl", () => {
  const models = [modelRules("a", { memory: 5, ttl: 5_000 }), modelRules("b", { memory: 5 })];

  it("unloads a model that was idle so long, and counts anew from its last answer", () => {
    const played = drive(models, { found: "a", arrivals: [job("1", 3_000, "a", { answerMs: 1_000 })] }).run();
    expect(played.unloads).toEqual([{ model: "a", at: 9_000 }]);
    expect(played.scheduler.view(20_000).loaded).toEqual([]);
  });

  it("spares a model that is asked for in the very millisecond before the tick", () => {
    const played = drive(models, { found: "a", arrivals: [job("1", 5_000, "a")], tickLateMs: 1 }).run();
    expect(played.grantedAt.get("1")).toBe(5_000);
    expect(played.unloads).toEqual([{ model: "a", at: 10_101 }]);
  });

  it("lets a request that comes during the unload wait, and loads the model again", () => {
    const played = drive(models, { found: "a", unloadMs: 500, arrivals: [job("1", 5_200, "a")] }).run();
    expect(played.grantedAt.get("1")).toBe(5_500 + 1_000);
  });

  it("serves every request of a caller that comes each ttl, give or take", () => {
    const arrivals = Array.from({ length: 500 }, (_, i) => job(String(i), i * 5_000 + ((i * 7) % 21) - 10 + 20, "a"));
    const played = drive(models, { arrivals, loadMs: 300 }).run();
    expect([...played.ended.values()].every(({ how }) => how === "done")).toBe(true);
  });

  it("tries again after another ttl where the unload failed and the model stands", () => {
    const answers = ["still" as const, "gone" as const];
    const played = drive(models, { found: "a", unloadFails: () => answers.shift() ?? null });
    played.run(60_000);
    expect(played.unloads.map(({ at }) => at)).toEqual([5_000, 10_010]);
    expect(played.scheduler.view(60_000).loaded).toEqual([]);
  });

  it("does not count for pinned models", () => {
    const pinned = [modelRules("a", { memory: 5, ttl: 5_000, pinned: true })];
    const played = drive(pinned, { found: "a" });
    played.run(60_000);
    expect(played.unloads).toEqual([]);
  });
});

describe("an unload by order", () => {
  const models = [modelRules("a", { memory: 5 }), modelRules("p", { memory: 5, pinned: true })];

  it("takes an idle model out, and leaves alone a busy one, a pinned one and one that is not loaded", () => {
    const orders = [500, 2_000].map((at) => ({ at, model: "a" }));
    const others = [
      { at: 2_500, model: "p" },
      { at: 3_000, model: "a" },
    ];
    const played = drive(models, {
      found: ["a", "p"],
      unloadAt: [...orders, ...others],
      arrivals: [job("1", 0, "a", { answerMs: 1_000 })],
    }).run();
    expect(played.unloads).toEqual([{ model: "a", at: 2_000 }]);
    expect(played.scheduler.view(4_000).loaded).toEqual(["p"]);
  });
});

describe("pinned models", () => {
  const models = [modelRules("p", { memory: 5, pinned: true }), modelRules("a", { memory: 6 })];

  it("are loaded at start, and idle ones make room", () => {
    const played = drive(models, { found: "a" });
    played.run(5_000);
    expect(played.swapEffects).toMatchObject([{ model: "p", victims: ["a"] }]);
    expect(played.scheduler.view(5_000).loaded).toEqual(["p"]);
  });

  it("come back after their engine died, after a pause that doubles while the load fails", () => {
    const played = drive(
      models,
      { found: "p", lostAt: [100_000], fails: (_, attempt) => attempt < 4 },
      { failureLimit: 99 },
    );
    played.run(200_000);
    const begun = played.failedSwaps.map(({ at }) => at - 1_000);
    expect(begun).toEqual([101_000, 104_000, 109_000]);
    expect(played.scheduler.view(200_000).loaded).toEqual(["p"]);
  });

  it("are not tried while the failure budget refuses them", () => {
    const played = drive(models, { fails: () => true }, { failureLimit: 2, failureReset: 60_000 });
    played.run(80_000);
    expect(played.failedSwaps.map(({ at }) => at - 1_000)).toEqual([1, 2_001, 63_001]);
  });

  it("wait for a busy model, whose turn closes once they have been missing for maxWait", () => {
    const arrivals = Array.from({ length: 100 }, (_, i) => job(String(i), i * 1_000, "a", { answerMs: 1_000 }));
    const played = drive(models, { found: "a", arrivals }, { maxWait: 20_000 });
    played.run(200_000);
    expect(played.swapEffects[0]).toMatchObject({ model: "p", victims: ["a"] });
    expect(played.grantedAt.get("19")).toBe(19_000);
    expect(played.scheduler.view(200_000).loaded).toContain("p");
  });
});

describe("preload", () => {
  const sizes = { a: 4, b: 8, c: 6, d: 1 };
  const models = Object.entries(sizes).map(([name, memory]) => modelRules(name, { memory, preload: name !== "d" }));

  it("loads in the order of the configuration what fits, once, and nothing makes room for it", () => {
    const played = drive(models, { found: "d" }, { budget: 12 });
    played.run(60_000);
    expect(played.swaps).toEqual(["a", "c"]);
    const tight = drive(models, { found: "d", lostAt: [{ at: 30_000, model: "a" }] });
    tight.run(60_000);
    expect(tight.swaps).toEqual(["a"]);
  });

  it("is one model without a budget", () => {
    const played = drive(models, {}, { budget: 0 });
    played.run(60_000);
    expect(played.swaps).toEqual(["a"]);
  });

  it("comes after somebody who waits", () => {
    const played = drive(models, { startAt: 1, arrivals: [job("1", 0.5, "b")] }, { budget: 12 });
    played.run(60_000);
    expect(played.swaps).toEqual(["b", "a"]);
  });
});

describe("a model that is restarted", () => {
  const models = [modelRules("r", { memory: 6, restart: true }), modelRules("a", { memory: 6 })];

  it("comes back after a pause when its engine died", () => {
    const played = drive(models, { found: "r", lostAt: [10_000] });
    played.run(60_000);
    expect(played.swapEffects).toMatchObject([{ model: "r", victims: [] }]);
    expect(played.scheduler.view(60_000).loaded).toEqual(["r"]);
  });

  it("does not where somebody else took the memory meanwhile, nor after an unload by order", () => {
    const played = drive(models, { found: "r", lostAt: [10_000], arrivals: [job("1", 10_100, "a")] });
    played.run(60_000);
    expect(played.swaps).toEqual(["a"]);
    const ordered = drive(models, { found: "r", unloadAt: [{ at: 10_000, model: "r" }] });
    ordered.run(60_000);
    expect(ordered.swaps).toEqual([]);
  });
});
