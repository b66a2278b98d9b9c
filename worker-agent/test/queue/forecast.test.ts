import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ForecastCosts, type ForecastRules, predictedWaits } from "../../src/queue/forecast.ts";
import type { ModelRules, SchedulerView } from "../../src/queue/types.ts";

interface Known {
  state?: "warm" | "loading" | "cold" | "failed";
  slots?: number;
  memory?: number | null;
  pinned?: boolean;
  queued?: number;
  running?: number;
  retryInMs?: number | null;
  service?: number | null;
  load?: number | null;
}

/** Predicts the wait for the first of the models. */
function predicted(models: Record<string, Known>, over: { budget?: number; draining?: boolean } = {}): number | null {
  const entries = Object.entries(models);
  const rules: ForecastRules = {
    maxWait: 60_000,
    minResident: 0,
    budget: over.budget ?? 0,
    models: entries.map(([name, { slots = 2, memory = null, pinned = false }]): ModelRules => {
      return { name, slots, memory, pinned, ttl: 0, preload: false, restart: false, unloads: true };
    }),
  };
  const view: SchedulerView = {
    draining: over.draining ?? false,
    loaded: [],
    swappingTo: null,
    unloading: null,
    swaps: 0,
    evictions: 0,
    depth: 0,
    inflight: 0,
    oldestWaitMs: 0,
    memoryUsed: 0,
    memoryBudget: 0,
    models: entries.map(([name, { state = "cold", queued = 0, running = 0, retryInMs = null, pinned = false }]) => {
      return { name, state, queued, running, oldestWaitMs: null, retryInMs, pinned, idleMs: null };
    }),
  };
  const costs: ForecastCosts = {
    serviceMs: (name) => models[name]?.service ?? null,
    loadMs: (name) => models[name]?.load ?? null,
  };
  const [first] = entries;
  return predictedWaits(view, rules, costs).get(first?.[0] ?? "") ?? null;
}

describe("the forecast of a wait", () => {
  it("is nothing for a loaded model with a free slot, whatever is known", () => {
    expect(predicted({ a: { state: "warm", running: 1 } })).toBe(0);
  });

  it("is the slots' time for a loaded model that is busy", () => {
    const warm = { state: "warm", running: 2, service: 6_000 } as const;
    expect(predicted({ a: warm })).toBe(3_000);
    expect(predicted({ a: { ...warm, queued: 3 } })).toBe(12_000);
    expect(predicted({ a: { ...warm, service: null } })).toBe(null);
  });

  it("is the rest of the load for a model on its way, and its queue", () => {
    const loading = { state: "loading", load: 20_000, service: 6_000 } as const;
    expect(predicted({ a: loading })).toBe(10_000);
    expect(predicted({ a: { ...loading, queued: 4 } })).toBe(10_000 + 9_000);
    expect(predicted({ a: { ...loading, load: null } })).toBe(null);
  });

  it("is the load for a cold model that fits", () => {
    const a = { load: 20_000, memory: 4 };
    expect(predicted({ a })).toBe(20_000);
    const busy = { state: "warm", memory: 6, running: 2, queued: 9, service: 5_000 } as const;
    expect(predicted({ a, b: busy }, { budget: 10 })).toBe(20_000);
    expect(predicted({ a, b: { ...busy, pinned: true } })).toBe(20_000);
    expect(predicted({ a: { ...a, pinned: true }, b: busy })).toBe(20_000);
    expect(predicted({ a: { ...a, load: null } })).toBe(null);
  });

  it("adds the time until another model may go", () => {
    const a = { load: 20_000 };
    const b = { state: "warm", load: 10_000, service: 6_000 } as const;
    expect(predicted({ a, b })).toBe(20_000);
    expect(predicted({ a, b: { ...b, running: 1, queued: 1 } })).toBe(20_000 + 6_000);
    expect(predicted({ a, b: { ...b, running: 2, queued: 500 } })).toBe(20_000 + 60_000 + 6_000);
    expect(predicted({ a, b: { ...b, running: 1, service: null } })).toBe(null);
    expect(predicted({ a, b: { ...b, service: null } })).toBe(20_000);
  });

  it("waits for as many as must go, those first whose turn is over first", () => {
    const a = { load: 20_000, memory: 6 };
    const warm = (running: number) => ({ state: "warm", memory: 4, service: 6_000, running, load: 1 }) as const;
    expect(predicted({ a, b: warm(2), c: warm(1) }, { budget: 10 })).toBe(20_000 + 3_000);
    expect(predicted({ a, b: warm(2), c: warm(1) }, { budget: 9 })).toBe(20_000 + 6_000);
    expect(predicted({ a, b: warm(2), c: { ...warm(1), service: null } }, { budget: 10 })).toBe(20_000 + 6_000);
  });

  it("is not known for a model that never fits", () => {
    const pinned = { state: "warm", pinned: true, memory: 8 } as const;
    expect(predicted({ a: { load: 1, memory: 4 }, b: pinned }, { budget: 10 })).toBe(null);
  });

  it("counts the models that others wait for already", () => {
    const a = { load: 20_000 };
    const b = { load: 10_000, service: 6_000, queued: 2 } as const;
    expect(predicted({ a, b })).toBe(20_000 + 10_000 + 6_000);
    expect(predicted({ a, b: { ...b, state: "loading" } })).toBe(20_000 + 5_000 + 6_000);
    expect(predicted({ a, b: { ...b, load: null } })).toBe(null);
    expect(predicted({ a: { ...a, memory: 4 }, b: { ...b, memory: 4 } }, { budget: 10 })).toBe(20_000 + 10_000);
  });

  it("is not known where there would be no grant", () => {
    expect(predicted({ a: { state: "failed", load: 1, retryInMs: 60_000 } })).toBe(null);
    expect(predicted({ a: { state: "failed", load: 1 } })).toBe(1);
    expect(predicted({ a: { state: "warm" } }, { draining: true })).toBe(null);
    expect(predicted({})).toBe(null);
  });

  const figure = fc.option(fc.nat(200_000));
  const known = fc.record({
    state: fc.constantFrom("warm", "loading", "cold"),
    slots: fc.integer({ min: 1, max: 4 }),
    memory: fc.option(fc.nat(12)),
    pinned: fc.boolean(),
    queued: fc.nat(20),
    running: fc.nat(4),
    service: figure,
    load: figure,
  });
  const farm = fc.record({ a: known, b: known, c: known }) as fc.Arbitrary<Record<string, Known>>;

  it("never shrinks when a queue grows, and is never negative", () => {
    fc.assert(
      fc.property(farm, fc.constantFrom("a", "b", "c"), fc.constantFrom(0, 10), (models, longer, budget) => {
        const before = predicted(models, { budget });
        const grown = { ...models, [longer]: { ...models[longer], queued: (models[longer]?.queued ?? 0) + 1 } };
        const after = predicted(grown, { budget });
        expect(before ?? 0).toBeGreaterThanOrEqual(0);
        expect(after ?? Number.POSITIVE_INFINITY).toBeGreaterThanOrEqual(before ?? 0);
      }),
      { numRuns: 2_000 },
    );
  });
});
