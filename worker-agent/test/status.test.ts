import { catalogSchema } from "@farmgate/shared";
import { describe, expect, it } from "vitest";
import { Learned } from "../src/figures/learned.ts";
import { Promises } from "../src/figures/promises.ts";
import type { SchedulerRules, SchedulerView, WaitingJob } from "../src/queue/types.ts";
import { agentConfigSchema } from "../src/index.ts";
import { ModelBook } from "../src/served-model.ts";
import { catalogOf, healthOf, type Moment } from "../src/status.ts";

const MINUTE = 60_000;
const NO_FIGURES = { promptTokensPerSecond: null, tokensPerSecond: null };
const THREE = ["a", "b", "c"];

/** Models a, b and c with four slots; a is loaded, and two requests wait for b. */
function moment(over: Partial<Moment> = {}): Moment {
  const models = THREE.map((name, at) => ({ name, url: `http://127.0.0.1:${at + 1}`, memory: "4gb" }));
  const rules: SchedulerRules = {
    maxBatch: 64,
    maxWait: MINUTE,
    minResident: 0,
    maxDepth: 1_000,
    failureLimit: 3,
    failureReset: 300_000,
    budget: 0,
    models: THREE.map((name) => {
      return { name, slots: 4, memory: null, pinned: false, ttl: 0, preload: false, restart: false, unloads: true };
    }),
  };
  const state = (name: string, more: object = {}) => {
    const idle = { queued: 0, running: 0, oldestWaitMs: null, retryInMs: null, pinned: false, idleMs: null };
    return { name, state: "cold" as const, ...idle, ...more };
  };
  const view: SchedulerView = {
    draining: false,
    loaded: ["a"],
    swappingTo: null,
    unloading: null,
    swaps: 1,
    evictions: 0,
    depth: 2,
    inflight: 1,
    oldestWaitMs: 5_000,
    memoryUsed: 4 * 1_024 ** 3,
    memoryBudget: 0,
    models: [state("a", { state: "warm", running: 1 }), state("b", { queued: 2, oldestWaitMs: 5_000 }), state("c")],
  };
  const waiting: WaitingJob[] = [
    { id: "1", requestId: "r1", model: "b", priority: "interactive", position: 1, waitedMs: 5_000 },
    { id: "2", requestId: "r2", model: "b", priority: "interactive", position: 2, waitedMs: 1_000.4 },
  ];
  return {
    now: 100_000,
    models: new ModelBook(agentConfigSchema.parse({ swap: { command: "x" }, models })).models,
    rules,
    view,
    waiting,
    learned: new Learned(),
    promises: new Promises(),
    promised: true,
    longestAnswerMs: MINUTE,
    ...over,
  };
}

const told = (at: Moment) => catalogSchema.parse(catalogOf({ name: "box", version: "0" }, at));

describe("a catalogue", () => {
  it("promises each one who waits, and whoever comes now, the longest wait", () => {
    const { models, queue, memory } = told(moment());
    expect(queue.waiting).toEqual([
      { id: "r1", model: "b", position: 1, waited_ms: 5_000, bound_ms: 22 * MINUTE - 5_000 },
      { id: "r2", model: "b", position: 2, waited_ms: 1_000, bound_ms: 22 * MINUTE - 1_000 },
    ]);
    expect(models.map(({ wait_bound_ms }) => wait_bound_ms)).toEqual([22 * MINUTE, 22 * MINUTE, 22 * MINUTE]);
    expect(memory).toEqual({ budget_bytes: 0, used_bytes: 4 * 1_024 ** 3 });
  });

  it("forecasts the wait from what was learned", () => {
    const at = moment();
    const answer = { ms: 8_000, ok: true, figures: { promptTokensPerSecond: 500, tokensPerSecond: 40 } };
    at.learned.answered("a", answer);
    at.learned.answered("b", answer);
    at.learned.loaded({ from: null, to: "b", ms: 30_000, wasReady: false }, 50_000);
    at.learned.loaded({ from: "b", to: "a", ms: 20_000, wasReady: false }, 90_000);
    const [a, b, c] = told(at).models;
    expect(a).toMatchObject({ predicted_wait_ms: 0, load_ms: 20_000, service_ms: 8_000 });
    expect(a).toMatchObject({ prompt_tokens_per_second: 500, tokens_per_second: 40 });
    // The one answer of a ends after a quarter of 8 s by its four slots.
    expect(b).toMatchObject({ predicted_wait_ms: 2_000 + 30_000, load_ms: 30_000 });
    expect(c).toMatchObject({ predicted_wait_ms: null, load_ms: null, service_ms: null });
  });

  it("tells how warm each model is, and counts what must be fetched into its load", () => {
    const sizeOf = () => 4 * 1_024 ** 3;
    const learned = new Learned({ bytes: 12 * 1_024 ** 3, sizeOf });
    for (const to of ["b", "c", "a"]) learned.loaded({ from: null, to, ms: 30_000, wasReady: false }, 0);
    const temperatures = (at: Moment) => told(at).models.map(({ temperature }) => temperature);
    // Two of them fit into three quarters of the memory.
    expect(temperatures(moment({ learned }))).toEqual(["active", "cold", "warm"]);
    const here = { bytes: sizeOf(), absent: false, leftMs: 0 };
    const comes = (leftMs: number | null) =>
      moment({ learned, weights: (name) => (name === "c" ? { bytes: null, absent: true, leftMs } : here) });
    expect(temperatures(comes(20_000))).toEqual(["active", "cold", "absent"]);
    expect(told(comes(20_000)).models.map(({ load_ms }) => load_ms)).toEqual([30_000, 30_000, 50_000]);
    expect(told(comes(null)).models[2]).toMatchObject({ load_ms: null, predicted_wait_ms: null });
  });

  it("stands on the longest loads and answers that were seen", () => {
    const at = moment();
    for (const to of THREE) at.learned.loaded({ from: null, to, ms: MINUTE, wasReady: false }, 0);
    expect(told(at).models[0]?.wait_bound_ms).toBe((1 + 3 * (1 + 2)) * MINUTE);
    at.learned.answered("c", { ms: 3 * MINUTE, ok: false, figures: NO_FIGURES });
    expect(told(at).models[0]?.wait_bound_ms).toBe((3 + 3 * (1 + 4)) * MINUTE);
  });

  it("holds on to what it promised once", () => {
    const promises = new Promises();
    told(moment({ promises }));
    const later = moment({ promises, now: 100_000 + 10 * MINUTE });
    const waiting = later.waiting.map((job) => ({ ...job, waitedMs: job.waitedMs + 10 * MINUTE }));
    expect(told({ ...later, waiting }).queue.waiting[0]?.bound_ms).toBe(12 * MINUTE - 5_000);
  });

  it("promises nothing to whom it would refuse, or by a policy without rules", () => {
    const at = moment();
    const failed = at.view.models.map((state) => ({ ...state, state: "failed" as const, retryInMs: 1_000 }));
    for (const refusing of [
      { ...at, view: { ...at.view, draining: true } },
      { ...at, view: { ...at.view, models: failed } },
    ]) {
      expect(told(refusing).models[0]).toMatchObject({ wait_bound_ms: null, predicted_wait_ms: null });
    }
    const unruled = told({ ...at, promised: false });
    expect(unruled.models[0]?.wait_bound_ms).toBe(null);
    expect(unruled.queue.waiting[0]?.bound_ms).toBe(null);
  });

  it("tells of a thousand who wait, and of no more", () => {
    const job = { requestId: "r", model: "b", priority: "interactive" as const, waitedMs: 0 };
    const waiting = Array.from({ length: 1_001 }, (_, at) => ({ ...job, id: String(at), position: at + 1 }));
    const { queue } = told(moment({ waiting }));
    expect(queue.waiting).toHaveLength(1_000);
    expect(queue.waiting.at(-1)?.position).toBe(1_000);
  });
});

describe("the health", () => {
  it("names its version, the attached engines and the model granted last", () => {
    const engines = [{ url: "http://127.0.0.1:11434", engine: "ollama", state: "up" }];
    const { view, learned } = moment();
    expect(healthOf({ name: "box", version: "1.2.3" }, view, learned, engines, 1_999)).toMatchObject({
      status: "ok",
      version: "1.2.3",
      model: "a",
      engines,
      uptime_s: 1,
    });
  });
});
