import { describe, expect, it } from "vitest";
import { Scheduler } from "../../src/queue/scheduler.ts";
import type { Job, SchedulerEffect } from "../../src/queue/types.ts";
import { Drive } from "./drive.ts";
import { rulesFor } from "./workload.ts";
import type { Arrival } from "./workload.ts";

const MINUTE = 60_000;
const LOAD = 1_000;

const every = (pace: number, count: number, model = "a"): Arrival[] =>
  Array.from({ length: count }, (_, index) => ({ id: `${model}${index}`, at: index * pace, model }));

/** The times at which a load of `a` was started, whose loads all fail but those from `heals` on. */
function attempts(arrivals: Arrival[], over = {}, heals = Number.POSITIVE_INFINITY): number[] {
  const rules = rulesFor({ a: 1, b: 1 }, over);
  const fails = (model: string, attempt: number) => model === "a" && attempt < heals;
  const drive = new Drive({ rules, loadMs: LOAD, arrivals, fails }).run();
  return drive.failedSwaps.map(({ at }) => at - LOAD);
}

describe("R6, a failed load", () => {
  it("answers everybody who waited for it, and nobody else", () => {
    const arrivals = [...every(10, 3), { id: "b", at: 5, model: "b" }];
    const rules = rulesFor({ a: 1, b: 1 });
    const drive = new Drive({ rules, loadMs: LOAD, arrivals, fails: (model) => model === "a" }).run();
    for (const id of ["a0", "a1", "a2"]) {
      expect(drive.ended.get(id)).toMatchObject({ how: "load_failed", at: LOAD });
      expect(drive.ended.get(id)?.message).toContain("the script ended with 1");
      expect(drive.ended.get(id)?.retryAfterS).toBeGreaterThan(0);
    }
    expect(drive.ended.get("b")?.how).toBe("done");
  });

  it("leaves nothing loaded, and the next swap knows of no previous model", () => {
    const arrivals = [
      { id: "a0", at: 0, model: "a" },
      { id: "b0", at: 100, model: "b" },
      { id: "b1", at: 9_000, model: "b" },
    ];
    const rules = rulesFor({ a: 1, b: 1 });
    const drive = new Drive({ rules, found: "a", loadMs: LOAD, arrivals, fails: (_, attempt) => attempt === 1 }).run();
    expect(drive.swapEffects.map(({ model, previous }) => [model, previous])).toEqual([
      ["b", "a"],
      ["b", null],
    ]);
    expect(drive.ended.get("b1")?.how).toBe("done");
  });

  it("counts as a turn: a model that fails does not keep the others from theirs", () => {
    const arrivals = [...every(200, 20), { id: "b", at: 300, model: "b" }];
    const rules = rulesFor({ a: 1, b: 1 }, { failureLimit: 100 });
    const drive = new Drive({ rules, loadMs: LOAD, arrivals, fails: (model) => model === "a" }).run();
    expect(drive.swaps.slice(0, 2)).toEqual(["a", "b"]);
  });
});

describe("the failure budget", () => {
  it("refuses at once after the limit, and says when to come again", () => {
    const rules = rulesFor({ a: 1 }, { failureLimit: 2, failureReset: MINUTE });
    const drive = new Drive({ rules, loadMs: LOAD, arrivals: every(2_000, 4), fails: () => true }).run();
    expect(drive.swaps).toHaveLength(2);
    expect(drive.ended.get("a2")).toMatchObject({ how: "load_failed", at: 4_000, retryAfterS: 59 });
    expect(drive.scheduler.view(4_000).models[0]).toMatchObject({ state: "failed", retryInMs: 59_000 });
  });

  it("lets one trial through after failureReset, and doubles the pause up to an hour", () => {
    const started = attempts(every(MINUTE / 4, 2_000), { failureLimit: 1, failureReset: 5 * MINUTE });
    const pauses = started.slice(1).map((at, index) => Math.floor((at - (started[index] ?? 0)) / MINUTE));
    expect(pauses.slice(0, 7)).toEqual([5, 10, 20, 40, 60, 60, 60]);
  });

  it("is cleared by a success", () => {
    const rules = rulesFor({ a: 1, b: 1 }, { failureLimit: 2 });
    // a fails, succeeds, makes room for b, and fails again: one failure each time.
    const arrivals = [0, 5_000, 10_000, 15_000, 20_000].map((at, index) => ({
      id: String(index),
      at,
      model: index === 2 ? "b" : "a",
    }));
    const fails = (model: string, attempt: number) => model === "a" && attempt !== 2 && attempt !== 4;
    const drive = new Drive({ rules, loadMs: LOAD, arrivals, fails }).run();
    expect([...drive.ended.values()].map(({ how }) => how)).toEqual([
      "load_failed",
      "done",
      "done",
      "load_failed",
      "done",
    ]);
  });

  it("is re-armed by failureReset without a failure", () => {
    expect(attempts(every(6 * MINUTE, 8), { failureLimit: 2, failureReset: 5 * MINUTE })).toHaveLength(8);
    expect(attempts(every(4 * MINUTE, 8), { failureLimit: 2, failureReset: 5 * MINUTE }).length).toBeLessThan(6);
  });

  it("is used up by loads that take longer than failureReset to fail", () => {
    expect(attempts(every(LOAD + 100, 8), { failureLimit: 2, failureReset: LOAD / 2 }).length).toBeLessThan(8);
  });
});

describe("an engine that dies", () => {
  it("is loaded again when somebody waits for it, and only then", () => {
    const rules = rulesFor({ a: 1 });
    const arrivals = [
      { id: "0", at: 0, model: "a", answerMs: 500 },
      { id: "1", at: 10, model: "a" },
      { id: "2", at: 9_000, model: "a" },
    ];
    const drive = new Drive({ rules, found: "a", loadMs: LOAD, arrivals, lostAt: [100, 5_000] }).run();
    expect(drive.ended.get("0")?.how).toBe("worker_failed");
    expect(drive.grantedAt.get("1")).toBe(100 + LOAD);
    expect(drive.grantedAt.get("2")).toBe(9_000 + LOAD);
    expect(drive.swaps).toEqual(["a", "a"]);
  });

  describe("each time before it has answered anything", () => {
    const rules = rulesFor({ a: 1, b: 1 }, { failureLimit: 3, failureReset: MINUTE });
    const job = (id: string, model = "a"): Job => {
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
    /** Asks for a, loads it when need be, and loses it; says what the request came to. */
    const tryOnce = (scheduler: Scheduler, id: string, now: number): string => {
      const effects = scheduler.on({ type: "arrive", job: job(id) }, now);
      if (effects[0]?.type !== "swap") return effects[0]?.type ?? "nothing";
      expect(scheduler.on({ type: "swapped", model: "a" }, now + 10)).toMatchObject([{ type: "grant", id }]);
      scheduler.on({ type: "lost", model: "a" }, now + 20);
      scheduler.on({ type: "done", id }, now + 20);
      return "granted";
    };

    it("counts as a failed load, so that it is not loaded for ever", () => {
      const scheduler = new Scheduler(rules);
      const tries = ["1", "2", "3", "4"].map((id, index) => tryOnce(scheduler, id, index * 100));
      expect(tries).toEqual(["granted", "granted", "granted", "reject"]);
      expect(scheduler.view(300)).toMatchObject({ loaded: [], swappingTo: null, models: [{ state: "failed" }, {}] });
    });

    it("does not count once an answer has ended, nor when it is unloaded by order", () => {
      const scheduler = new Scheduler(rules);
      for (let index = 0; index < 6; index += 1) {
        scheduler.on({ type: "arrive", job: job(`a${index}`) }, index * 100);
        scheduler.on({ type: "swapped", model: "a" }, index * 100 + 10);
        scheduler.on({ type: "done", id: `a${index}` }, index * 100 + 20);
        scheduler.on({ type: "lost", model: "a" }, index * 100 + 30);
        expect(scheduler.view(index * 100 + 30).models[0]?.state).toBe("cold");
        scheduler.on({ type: "arrive", job: { ...job(`load${index}`), kind: "load" } }, index * 100 + 40);
        scheduler.on({ type: "swapped", model: "a" }, index * 100 + 50);
        scheduler.on({ type: "done", id: `load${index}` }, index * 100 + 60);
        scheduler.on({ type: "unload", model: "a" }, index * 100 + 65);
        scheduler.on({ type: "unloaded", model: "a" }, index * 100 + 70);
        expect(scheduler.view(index * 100 + 70).models[0]?.state).toBe("cold");
      }
    });

    it("does not count for the model that was found at the start", () => {
      const scheduler = new Scheduler(rulesFor({ a: 1 }, { failureLimit: 1 }));
      scheduler.on({ type: "found", model: "a" }, 0);
      scheduler.on({ type: "lost", model: "a" }, 10);
      expect(tryOnce(scheduler, "1", 20)).toBe("granted");
    });
  });

  it("is not swapped while its last answers are still ending", () => {
    const scheduler = new Scheduler(rulesFor({ a: 2, b: 1 }));
    const job = (id: string, model: string): Job => {
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
    const types = (effects: SchedulerEffect[]) => effects.map((effect) => effect.type);
    scheduler.on({ type: "found", model: "a" }, 0);
    expect(types(scheduler.on({ type: "arrive", job: job("1", "a") }, 0))).toEqual(["grant"]);
    scheduler.on({ type: "arrive", job: job("2", "b") }, 1);
    expect(types(scheduler.on({ type: "lost", model: "a" }, 2))).not.toContain("swap");
    expect(scheduler.view(2)).toMatchObject({ loaded: [], inflight: 1 });
    expect(types(scheduler.on({ type: "done", id: "1" }, 3))).toEqual(["swap"]);
  });

  it("is nobody's business when it is another than the loaded one", () => {
    const scheduler = new Scheduler(rulesFor({ a: 1, b: 1 }));
    scheduler.on({ type: "found", model: "a" }, 0);
    scheduler.on({ type: "lost", model: "b" }, 1);
    expect(scheduler.view(2).loaded).toEqual(["a"]);
  });
});
