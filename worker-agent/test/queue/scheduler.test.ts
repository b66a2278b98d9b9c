import { describe, expect, it } from "vitest";
import { Scheduler } from "../../src/queue/scheduler.ts";
import type { Job } from "../../src/queue/types.ts";
import { Drive } from "./drive.ts";
import { rulesFor } from "./workload.ts";
import type { Arrival } from "./workload.ts";

const job = (id: string, at: number, model: string, over: Partial<Arrival> = {}): Arrival => ({
  id,
  at,
  model,
  ...over,
});

const bare = (id: string, model: string): Job => {
  return {
    id,
    requestId: id,
    model,
    caller: "",
    priority: "interactive",
    arrivedAt: 0,
    deadlineAt: null,
    kind: "request",
  };
};

describe("slots", () => {
  it("several answers run at once, no more than the model has", () => {
    const arrivals = Array.from({ length: 10 }, (_, index) => job(String(index), 0, "a", { answerMs: 1_000 }));
    const drive = new Drive({ rules: rulesFor({ a: 4 }), found: "a", loadMs: 1, arrivals });
    drive.run(500);
    expect(drive.granted).toHaveLength(4);
    drive.run();
    expect(drive.grantedAt.get("9")).toBe(2_000);
  });
});

describe("a load", () => {
  it("makes its model ready and ends then, without a slot", () => {
    const arrivals = [job("load", 0, "b", { kind: "load" }), job("b1", 10, "b"), job("b2", 11, "b")];
    const drive = new Drive({ rules: rulesFor({ a: 1, b: 1 }), found: "a", loadMs: 1_000, arrivals }).run();
    expect(drive.swaps).toEqual(["b"]);
    expect(drive.grantedAt.get("load")).toBe(1_000);
    expect(drive.grantedAt.get("b1")).toBe(1_000);
  });

  it("of what is loaded ends at once, and many loads cost one swap", () => {
    const loads = Array.from({ length: 5 }, (_, index) => job(`b${index}`, index, "b", { kind: "load" }));
    const arrivals = [job("a", 0, "a", { kind: "load" }), ...loads, job("again", 5_000, "b", { kind: "load" })];
    const drive = new Drive({ rules: rulesFor({ a: 1, b: 1 }), found: "a", loadMs: 1_000, arrivals }).run();
    expect(drive.grantedAt.get("a")).toBe(0);
    expect(drive.grantedAt.get("again")).toBe(5_000);
    expect(drive.swaps).toEqual(["b"]);
  });

  it("waits for its turn like anybody", () => {
    const arrivals = [job("a", 0, "a", { answerMs: 800 }), job("load", 10, "b", { kind: "load" }), job("a2", 20, "a")];
    const drive = new Drive({ rules: rulesFor({ a: 1, b: 1 }), found: "a", loadMs: 1_000, arrivals }).run();
    expect(drive.granted).toEqual(["a", "a2", "load"]);
  });
});

describe("room", () => {
  it("beyond maxDepth waiting jobs a newcomer is refused, and told when to come again", () => {
    const arrivals = Array.from({ length: 4 }, (_, index) => job(String(index), index, "a", { answerMs: 2_000 }));
    const drive = new Drive({ rules: rulesFor({ a: 1 }, { maxDepth: 2 }), found: "a", loadMs: 1, arrivals }).run();
    expect(drive.ended.get("3")).toMatchObject({ how: "queue_full", at: 3 });
    expect(drive.ended.get("3")?.retryAfterS).toBeGreaterThanOrEqual(1);
    expect(drive.ended.get("3")?.retryAfterS).toBeLessThanOrEqual(60);
    expect(drive.granted).toEqual(["0", "1", "2"]);
  });

  it("a job that can be granted at once needs none", () => {
    const arrivals = [job("a", 0, "a"), job("b", 1, "b"), job("a2", 2, "a")];
    const rules = rulesFor({ a: 2, b: 1 }, { maxDepth: 1 });
    const drive = new Drive({ rules, found: "a", loadMs: 1_000, arrivals }).run();
    expect([...drive.ended.values()].map(({ how }) => how)).toEqual(["done", "done", "done"]);
  });
});

describe("drain", () => {
  it("refuses new jobs, serves those that wait with swaps if need be, and resumes", () => {
    const arrivals = [job("a", 0, "a"), job("b", 10, "b"), job("late", 60, "a"), job("after", 5_000, "a")];
    const drive = new Drive({ rules: rulesFor({ a: 1, b: 1 }), found: "a", loadMs: 1_000, arrivals });
    drive.at(50, () => drive.send({ type: "drain" }));
    drive.at(4_000, () => drive.send({ type: "resume" }));
    drive.run(3_000);
    expect(drive.scheduler.view(3_000).draining).toBe(true);
    drive.run();
    expect(drive.ended.get("late")).toMatchObject({ how: "draining", at: 60 });
    expect(drive.ended.get("b")?.how).toBe("done");
    expect(drive.ended.get("after")?.how).toBe("done");
  });
});

describe("the view", () => {
  it("says what is loaded, loading and waited for", () => {
    const drive = new Drive({
      rules: rulesFor({ a: 2, b: 1 }),
      found: "a",
      loadMs: 1_000,
      arrivals: [job("1", 0, "a"), job("2", 20, "b"), job("3", 30, "b")],
    });
    drive.run(50);
    const quiet = { queued: 0, running: 0, oldestWaitMs: null, retryInMs: null, pinned: false, idleMs: null };
    expect(drive.scheduler.view(50)).toEqual({
      draining: false,
      loaded: ["a"],
      swappingTo: null,
      unloading: null,
      swaps: 0,
      evictions: 0,
      depth: 2,
      inflight: 1,
      oldestWaitMs: 30,
      memoryUsed: 0,
      memoryBudget: 0,
      models: [
        { ...quiet, name: "a", state: "warm", running: 1 },
        { ...quiet, name: "b", state: "cold", queued: 2, oldestWaitMs: 30 },
      ],
    });
    drive.run(500);
    expect(drive.scheduler.view(500)).toMatchObject({ loaded: [], swappingTo: "b", swaps: 1, depth: 2 });
    expect(drive.scheduler.view(500).models.map(({ state }) => state)).toEqual(["cold", "loading"]);
    expect(drive.scheduler.position("3", 500)).toEqual({ position: 2, model: "b" });
    expect(drive.scheduler.position("1", 500)).toBeNull();
  });

  it("calls a model that failed failed until it is re-armed", () => {
    const rules = rulesFor({ a: 1 }, { failureReset: 10_000 });
    const drive = new Drive({ rules, loadMs: 1_000, arrivals: [job("1", 0, "a")], fails: () => true }).run();
    expect(drive.scheduler.view(1_000).models[0]).toMatchObject({ state: "failed", retryInMs: null });
    expect(drive.scheduler.view(11_000).models[0]?.state).toBe("cold");
  });
});

describe("what the executor is told", () => {
  it("a swap says why, and what was loaded", () => {
    const scheduler = new Scheduler(rulesFor({ a: 1, b: 1 }));
    scheduler.on({ type: "found", model: "a" }, 0);
    expect(scheduler.on({ type: "arrive", job: bare("1", "b") }, 12_000)).toEqual([
      {
        type: "swap",
        model: "b",
        previous: "a",
        victims: ["a"],
        reason: "a has nothing left; 1 waiting for b, the first for 12 s",
      },
    ]);
  });

  it("a tick is asked for once, and called off when it is not needed", () => {
    const scheduler = new Scheduler(rulesFor({ a: 1, b: 1 }, { minResident: 1_000 }));
    scheduler.on({ type: "found", model: "a" }, 0);
    expect(scheduler.on({ type: "arrive", job: bare("1", "b") }, 10)).toEqual([{ type: "wake", at: 1_000 }]);
    expect(scheduler.on({ type: "arrive", job: bare("2", "b") }, 20)).toEqual([]);
    expect(scheduler.on({ type: "tick" }, 900)).toEqual([{ type: "wake", at: 1_000 }]);
    scheduler.on({ type: "leave", id: "1" }, 910);
    expect(scheduler.on({ type: "leave", id: "2" }, 920)).toEqual([{ type: "wake", at: null }]);
  });

  it("a model that is not served here is refused, the same id twice is a fault", () => {
    const scheduler = new Scheduler(rulesFor({ a: 1 }));
    expect(scheduler.on({ type: "arrive", job: bare("1", "x") }, 0)).toMatchObject([
      { type: "reject", code: "model_not_found" },
    ]);
    scheduler.on({ type: "arrive", job: bare("1", "a") }, 0);
    expect(() => scheduler.on({ type: "arrive", job: bare("1", "a") }, 1)).toThrow("here already");
  });
});
