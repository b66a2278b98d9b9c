import { describe, expect, it } from "vitest";
import type { CatalogModel } from "@farmgate/engines";
import { choose } from "../../src/routing/choose.ts";
import { explain } from "../../src/routing/explain.ts";
import { ask, busy, type Farm, farm, model, sent, weighing, type WorkerSketch, worker } from "./farm.ts";

const NONE = new Set<string>();
const warm = (told: Partial<CatalogModel> = {}, sketch: WorkerSketch = {}) =>
  worker("gpu-box", { models: [model("m", "warm", { slots: 1, serviceMs: 40_000, ...told })], ...sketch });
const cold = (told: Partial<CatalogModel> = {}, sketch: WorkerSketch = {}) =>
  worker("mac", {
    engine: "agent",
    models: [model("m", "cold", { slots: 1, loadMs: 25_000, ...told }), model("other", "warm", { slots: 1 })],
    memory: { budgetBytes: 0, usedBytes: 5 },
    ...sketch,
  });

function goes(context: Farm, tried: ReadonlySet<string> = NONE): string {
  const decision = choose(ask("m"), context, tried);
  return decision.kind === "send" ? decision.choice.worker.config.name : decision.kind;
}

/** A full gpu-box beside a cold mac. */
function full(gpuBox = warm(), mac = cold()): ReturnType<typeof weighing> {
  const context = weighing(farm([gpuBox, mac]));
  busy(context, "gpu-box", 1);
  return context;
}

describe("a full worker beside a cold one", () => {
  it("gives way where loading is cheaper, and says by how much", () => {
    const { set, warmth, reason, weighed } = sent(choose(ask("m"), full(), NONE));
    expect({ set, warmth }).toEqual({ set: "cold", warmth: "cold" });
    expect(weighed).toMatchObject({ decision: "swap", waitMs: 40_000, swapMs: 25_000, worker: "mac" });
    expect(reason).toBe("has it, not loaded; waiting at gpu-box would take about 40 s, loading on mac about 25 s: mac");
  });

  it("is waited for where that is cheaper, or gains too little", () => {
    expect(sent(choose(ask("m"), full(warm({ serviceMs: 9_000 })), NONE)).weighed).toMatchObject({
      decision: "wait",
      worker: "gpu-box",
    });
    expect(sent(choose(ask("m"), full(warm({ serviceMs: 26_000 })), NONE)).reason).toBe(
      "has it loaded; waiting at gpu-box would take about 26 s, loading on mac about 25 s, which gains too little: gpu-box",
    );
  });

  it("is waited for where the load would drop the farm's last warm copy of a model in use", () => {
    const other = model("other", "warm");
    const context = { ...full(), lastCopies: { on: (name: string) => (name === "mac" ? [other] : []) } };
    expect(goes(context)).toBe("gpu-box");
  });

  it("is taken by its set alone where nothing is to be weighed", () => {
    const context = full();
    const { pricing, ...off } = context;
    expect(pricing).toBeDefined();
    expect(goes(off)).toBe("gpu-box");
    expect(goes(context, new Set(["another"]))).toBe("gpu-box");
    expect(goes(full(warm({ serviceMs: null })))).toBe("gpu-box");
    expect(goes(full(warm(), cold({ loadMs: null })))).toBe("gpu-box");
    expect(goes(full(warm(), cold({}, { refused: true })))).toBe("gpu-box");
    expect(goes(weighing(farm([warm(), cold()])))).toBe("gpu-box");
  });

  it("is full by what its catalogue says waits there from elsewhere", () => {
    const queued = weighing(farm([warm({ slots: 2, queued: 3 }), cold()]));
    busy(queued, "gpu-box", 1);
    queued.inflight.polled("gpu-box");
    expect(sent(choose(ask("m"), queued, NONE)).weighed?.waitMs).toBe(60_000);
  });

  it("does not count its own requests twice when its catalogue tells them too", () => {
    const context = weighing(farm([warm({ slots: 2, queued: 1 }), cold()]));
    busy(context, "gpu-box", 3);
    context.inflight.polled("gpu-box");
    expect(sent(choose(ask("m"), context, NONE)).weighed?.waitMs).toBe(40_000);
  });

  it("goes by its own forecast, with what was sent since", () => {
    const context = full(warm({ predictedWaitMs: 3_000 }));
    expect(sent(choose(ask("m"), context, NONE)).weighed).toMatchObject({ decision: "wait", waitMs: 3_000 });
    context.inflight.polled("gpu-box");
    busy(context, "gpu-box", 1);
    expect(sent(choose(ask("m"), context, NONE)).weighed).toMatchObject({ decision: "swap", waitMs: 43_000 });
  });

  it("has a free slot beside it: that one is taken", () => {
    const free = worker("free", { models: [model("m", "unknown")], slots: 1 });
    const context = weighing(farm([warm(), free, cold()], "round-robin"));
    busy(context, "gpu-box", 1);
    context.turns.picked("free", "m", 1);
    expect(sent(choose(ask("m"), context, NONE)).weighed).toBeNull();
  });

  it("is left for one that is loading already, with those who wait there", () => {
    const context = full(warm(), cold({ serviceMs: 5_000 }));
    busy(context, "mac", 1);
    expect(sent(choose(ask("m"), context, NONE)).weighed).toMatchObject({ decision: "swap", swapMs: 30_000 });
    busy(context, "mac", 1);
    expect(sent(choose(ask("m"), context, NONE)).weighed).toMatchObject({ decision: "wait", swapMs: 35_000 });
  });

  it("is priced by what was learned here where the worker tells nothing", () => {
    const context = full(warm({ serviceMs: null }), cold({ loadMs: null }, { engine: "ollama", memory: null }));
    const answered = { streamed: false, firstByteMs: 30_000, ms: 30_000 };
    context.pricing.learned = {
      of: (name) => (name === "mac" ? { serviceMs: null, loadMs: 8_000 } : { serviceMs: answered.ms, loadMs: null }),
    };
    expect(sent(choose(ask("m"), context, NONE)).weighed).toMatchObject({ waitMs: 30_000, swapMs: 8_000 });
  });
});

describe("what a load would evict", () => {
  const beside = (told: Partial<CatalogModel>, memory: WorkerSketch["memory"], other: Partial<CatalogModel> = {}) => {
    const models = [model("m", "cold", { loadMs: 10_000, ...told }), model("other", "warm", { slots: 1, ...other })];
    const context = full(warm(), cold({}, { models, memory: memory ?? null }));
    busy(context, "mac", 2, "other");
    return sent(choose(ask("m"), context, NONE)).weighed?.swapMs ?? null;
  };
  const oneAtATime = { budgetBytes: 0, usedBytes: 5 };

  it.each([
    ["is waited for at one model at a time", beside({}, oneAtATime, { serviceMs: 4_000 }), 18_000],
    ["is not where both fit", beside({ memoryBytes: 5 }, { budgetBytes: 20, usedBytes: 10 }), 10_000],
    ["is where they do not", beside({ memoryBytes: 15 }, { budgetBytes: 20, usedBytes: 10 }, { serviceMs: 1 }), 10_002],
    ["is where its size is not known", beside({}, { budgetBytes: 20, usedBytes: 10 }, { serviceMs: 1 }), 10_002],
    ["bars the load while its time is not known", beside({}, oneAtATime), null],
    ["is in the worker's forecast already", beside({ predictedWaitMs: 30_000 }, oneAtATime), 30_000],
  ])("%s", (_, swapMs, expected) => {
    expect(swapMs).toBe(expected);
  });

  it("is added to a forecast that was made before it came", () => {
    const models = [
      model("m", "cold", { loadMs: 10_000, predictedWaitMs: 12_000 }),
      model("other", "warm", { serviceMs: 4_000 }),
    ];
    const context = full(warm(), cold({}, { models }));
    context.inflight.polled("mac");
    busy(context, "mac", 1, "other");
    expect(sent(choose(ask("m"), context, NONE)).weighed?.swapMs).toBe(16_000);
  });
});

describe("where all leading workers are at their caps", () => {
  const capped = (waitingAhead: number, serviceMs = 10_000) => {
    const context = weighing(farm([warm({ serviceMs, slots: 4 }, { maxConcurrent: 1 }), cold()]), waitingAhead);
    busy(context, "gpu-box", 1);
    return context;
  };

  it("a request waits at the gateway for a few others, and loads elsewhere behind many", () => {
    expect(choose(ask("m"), capped(0), NONE)).toMatchObject({
      kind: "wait",
      set: "leading",
      weighed: { decision: "wait", waitMs: 10_000, worker: "gpu-box" },
    });
    expect(goes(capped(3))).toBe("mac");
  });

  it("a cold one at its cap is no way out", () => {
    const context = weighing(farm([warm({}, { maxConcurrent: 1 }), cold({}, { maxConcurrent: 1 })]), 9);
    busy(context, "gpu-box", 1);
    busy(context, "mac", 1, "other");
    expect(choose(ask("m"), context, NONE)).toEqual({ kind: "wait", set: "leading" });
  });
});

describe("an explanation", () => {
  it("tells both figures, and ranks the rest as they would be tried", () => {
    const { decision, weighed, ranked } = explain(ask("m"), full());
    expect(decision).toEqual({ kind: "send", worker: "mac" });
    expect(weighed).toMatchObject({ decision: "swap", waitMs: 40_000, swapMs: 25_000, worker: "mac" });
    expect(ranked.map(({ worker }) => worker)).toEqual(["mac", "gpu-box"]);
  });
});

it("of two workers that are equally cold by their state takes the one with the model in its page cache", () => {
  const box = (name: string, ms: number) =>
    worker(name, {
      engine: "agent",
      models: [model("m", "cold", { slots: 1, loadMs: ms, predictedWaitMs: ms }), model("other", "warm", { slots: 1 })],
      memory: { budgetBytes: 0, usedBytes: 5 },
    });
  const [disk, cached] = [box("disk", 60_000), box("cached", 6_000)];
  for (const colds of [
    [disk, cached],
    [cached, disk],
  ]) {
    const context = weighing(farm([warm(), ...colds]));
    busy(context, "gpu-box", 1);
    expect(goes(context)).toBe("cached");
  }
  const context = weighing(farm([warm(), disk]));
  busy(context, "gpu-box", 1);
  expect(goes(context)).toBe("gpu-box");
});
