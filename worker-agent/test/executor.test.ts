import { FarmError } from "@farmgate/shared";
import { array, assert, asyncProperty, constantFrom, integer, tuple } from "fast-check";
import { describe, expect, it } from "vitest";
import { type Decider, Executor, type Switching, type Waiter } from "../src/executor.ts";
import { Scheduler } from "../src/index.ts";
import type { SchedulerEffect, SchedulerEvent } from "../src/queue/types.ts";
import { ExecutorWorld, job, settled, STEPS } from "./support/executor-world.ts";
import { HandClock } from "./support/hand-clock.ts";

/** A decider that answers each event as the test says, and keeps what it was told. */
function scripted(answer: (event: SchedulerEvent) => SchedulerEffect[]): { decider: Decider; told: SchedulerEvent[] } {
  const told: SchedulerEvent[] = [];
  const view = new Scheduler({
    maxBatch: 1,
    maxWait: 1,
    minResident: 0,
    maxDepth: 1,
    failureLimit: 1,
    failureReset: 1,
    budget: 0,
    models: [],
  }).view(0);
  const on = (event: SchedulerEvent) => {
    told.push(event);
    return answer(event);
  };
  return { decider: { on, view: () => view }, told };
}

/** Switching that succeeds at once. */
const easy: Switching = { swap: async () => ({ ok: true }), unload: async () => ({ ok: true }), lost: () => {} };
const swapTo = (model: string): SchedulerEffect => {
  return { type: "swap", model, previous: null, victims: [], reason: "asked for" };
};

const nobody: Waiter = { granted: () => {}, rejected: () => {}, cut: () => {} };

describe("the executor", () => {
  it("tells the end of a granted job once, however often it is called", () => {
    const { decider, told } = scripted((event) =>
      event.type === "arrive" ? [{ type: "grant", id: event.job.id, model: "a", waitedMs: 0 }] : [],
    );
    const executor = new Executor(decider, easy, new HandClock());
    executor.submit(job("1"), nobody);
    executor.finished("1");
    executor.finished("1");
    executor.leave("1");
    expect(told.map((event) => event.type)).toEqual(["arrive", "done"]);
  });

  it("does not end a job that still waits, and lets nobody leave twice", () => {
    const { decider, told } = scripted(() => []);
    const executor = new Executor(decider, easy, new HandClock());
    executor.submit(job("1"), nobody);
    executor.finished("1");
    executor.leave("1");
    executor.leave("1");
    expect(told.map((event) => event.type)).toEqual(["arrive", "leave"]);
  });

  it("runs one operation at a time: a swap waits for an unload that is under way", async () => {
    const order: string[] = [];
    const { decider, told } = scripted((event) => {
      if (event.type !== "arrive") return [];
      return event.job.id === "1" ? [{ type: "unload", model: "b", reason: "" }] : [swapTo("a")];
    });
    let unloaded = () => {};
    const switching: Switching = {
      lost: () => {},
      swap: async () => {
        order.push("swap");
        return { ok: true };
      },
      unload: async () => {
        order.push("unload");
        await new Promise<void>((resolve) => {
          unloaded = resolve;
        });
        order.push("unloaded");
        return { ok: true };
      },
    };
    const executor = new Executor(decider, switching, new HandClock());
    executor.submit(job("1"), nobody);
    executor.submit(job("2"), nobody);
    await settled();
    expect(order).toEqual(["unload"]);
    unloaded();
    await settled();
    expect(order).toEqual(["unload", "unloaded", "swap"]);
    expect(told.slice(2)).toEqual([
      { type: "unloaded", model: "b" },
      { type: "swapped", model: "a" },
    ]);
  });

  it("takes in what happens while effects are applied only after all of them", () => {
    const order: string[] = [];
    const { decider, told } = scripted((event) =>
      event.type === "tick" ? ["1", "2"].map((id) => ({ type: "grant", id, model: "a", waitedMs: 0 })) : [],
    );
    const executor = new Executor(decider, easy, new HandClock());
    for (const id of ["1", "2"]) {
      const granted = () => {
        order.push(id);
        executor.finished(id);
      };
      executor.submit(job(id), { ...nobody, granted });
    }
    executor.tell({ type: "tick" });
    expect(order).toEqual(["1", "2"]);
    expect(told.map((event) => event.type)).toEqual(["arrive", "arrive", "tick", "done", "done"]);
  });

  it("keeps one wake-up: a new one replaces the one before, null takes it away", () => {
    const wakes: (number | null)[] = [100, 50, null];
    const clock = new HandClock();
    const { decider, told } = scripted((event) =>
      event.type === "arrive" ? [{ type: "wake", at: wakes.shift() ?? null }] : [],
    );
    const executor = new Executor(decider, easy, clock);
    executor.submit(job("1"), nobody);
    expect(clock.pending).toEqual([100]);
    executor.submit(job("2"), nobody);
    expect(clock.pending).toEqual([50]);
    clock.move(60);
    expect(told.at(-1)).toEqual({ type: "tick" });
    executor.submit(job("3"), nobody);
    expect(clock.pending).toEqual([]);
  });

  it("tells a failed swap with its reason and what is gone, also when the swap itself breaks", async () => {
    const { decider, told } = scripted((event) => (event.type === "arrive" ? [swapTo(event.job.model)] : []));
    const swap: Switching["swap"] = async ({ model }) => {
      if (model === "b") throw new Error("a bug");
      return { ok: false, reason: "exit code 3", lost: ["c"] };
    };
    const executor = new Executor(decider, { ...easy, swap }, new HandClock());
    executor.submit(job("1", "a"), nobody);
    await settled();
    executor.submit(job("2", "b"), nobody);
    await settled();
    expect(told.filter((event) => event.type === "swap_failed")).toEqual([
      { type: "swap_failed", model: "a", reason: "exit code 3", lost: ["c"] },
      { type: "swap_failed", model: "b", reason: "Error: a bug", lost: [] },
    ]);
  });

  it("tells a failed unload, whether the model still stands, and takes it for gone when the unload itself breaks", async () => {
    const { decider, told } = scripted((event) =>
      event.type === "arrive" ? [{ type: "unload", model: event.job.model, reason: "idle" }] : [],
    );
    const unload: Switching["unload"] = async (model) => {
      if (model === "b") throw new Error("a bug");
      return { ok: false, reason: "exit code 3", still: true };
    };
    const executor = new Executor(decider, { ...easy, unload }, new HandClock());
    executor.submit(job("1", "a"), nobody);
    executor.submit(job("2", "b"), nobody);
    await settled();
    expect(told.filter((event) => event.type === "unload_failed")).toEqual([
      { type: "unload_failed", model: "a", still: true, reason: "exit code 3" },
      { type: "unload_failed", model: "b", still: false, reason: "Error: a bug" },
    ]);
  });

  it("puts a job that met no engine back before its slot is free, and loses the model first", () => {
    const { decider, told } = scripted((event) =>
      event.type === "arrive" && event.job.id === "1" ? [{ type: "grant", id: "1", model: "a", waitedMs: 0 }] : [],
    );
    const executor = new Executor(decider, easy, new HandClock());
    executor.submit(job("1"), nobody);
    executor.again("1", job("1.again"), nobody);
    executor.finished("1");
    expect(told.map((event) => event.type)).toEqual(["arrive", "lost", "arrive", "done"]);
  });
});

describe("the executor that waits for its last answer", () => {
  it("waits no longer when that one met no engine and is not taken again", async () => {
    const { decider } = scripted((event) => {
      if (event.type !== "arrive") return [];
      if (event.job.id === "1") return [{ type: "grant", id: "1", model: "a", waitedMs: 0 }];
      return [{ type: "reject", id: event.job.id, code: "draining", message: "draining", retryAfterS: null }];
    });
    const executor = new Executor(decider, easy, new HandClock());
    executor.submit(job("1"), nobody);
    let idle = false;
    void executor.idle().then(() => (idle = true));
    executor.again("1", job("1.again"), nobody);
    await settled();
    expect(idle).toBe(true);
  });
});

describe("the executor with the real scheduler", () => {
  it("ends every job exactly once, counts every running one, and never sends to a model that is not loaded", async () => {
    await assert(
      asyncProperty(
        array(tuple(constantFrom(...STEPS), integer({ min: 0, max: 50 })), { maxLength: 80 }),
        async (steps) => {
          const world = new ExecutorWorld();
          for (const [what, pick] of steps) await world.take(what, pick);
          await world.finishAll();
          expect(world.executor.view()).toMatchObject({ inflight: 0, depth: 0, swappingTo: null });
          expect(world.broken).toEqual([]);
          expect([...world.ends.values()].every((count) => count === 1)).toBe(true);
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe("the executor that stops", () => {
  it("starts no operation that still waited for another one to end", async () => {
    const { decider, told } = scripted((event) =>
      event.type === "arrive" ? [{ type: "unload", model: "b", reason: "" }, swapTo("a")] : [],
    );
    let ended = () => {};
    let ran = false;
    const switching: Switching = {
      lost: () => {},
      swap: async () => {
        ran = true;
        return { ok: true };
      },
      unload: () => new Promise((resolve) => (ended = () => resolve({ ok: true }))),
    };
    const executor = new Executor(decider, switching, new HandClock());
    executor.submit(job("1"), nobody);
    await settled();
    const stopped = executor.stop(new FarmError("draining", "stopping"));
    ended();
    await stopped;
    await settled();
    expect(ran).toBe(false);
    expect(told.at(-1)).toMatchObject({ type: "swap_failed", reason: expect.stringContaining("stopping") });
  });

  it("cuts what runs, ends the swap by its signal, and answers what waits", async () => {
    const ends: string[] = [];
    const { decider } = scripted((event) => {
      if (event.type !== "arrive") return [];
      if (event.job.id === "1") return [{ type: "grant", id: "1", model: "a", waitedMs: 0 }];
      return event.job.id === "2" ? [swapTo("b")] : [];
    });
    const swap: Switching["swap"] = (_order, signal) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => {
          ends.push("swap ended");
          resolve({ ok: false, reason: "was stopped", lost: [] });
        });
      });
    const executor = new Executor(decider, { ...easy, swap }, new HandClock());
    const cut = (error: FarmError) => {
      ends.push(`1 cut: ${error.code}`);
      executor.finished("1");
    };
    executor.submit(job("1"), { ...nobody, cut });
    executor.submit(job("2", "b"), { ...nobody, rejected: (error) => ends.push(`2 rejected: ${error.code}`) });
    await settled();
    const error = new FarmError("draining", "stopping");
    executor.rejectWaiting(error);
    await executor.stop(error);
    await executor.idle();
    expect(ends).toEqual(["2 rejected: draining", "swap ended", "1 cut: draining"]);
  });
});
