import { describe, expect, it } from "vitest";
import { farmBins } from "../../../src/placement/live/farm-bins.ts";
import { guardActions, type Guarded, type GuardView } from "../../../src/placement/live/guard-actions.ts";
import type { PoolAction } from "../../../src/placement/pools/types.ts";
import type { WorkerEntry } from "../../../src/catalog/types.ts";
import { model, worker } from "../../routing/farm.ts";
import { machine, pending, roomy, viewOf, want } from "../view.ts";

function guardView(workers: readonly WorkerEntry[], more: Partial<GuardView> = {}): GuardView {
  const base = viewOf(workers, more.orders);
  const { replicas } = farmBins({
    ...base,
    unloading: new Map(),
    speed: () => ({ compute: 1, bandwidth: 1 }),
    poolOf: () => "stable",
    isNeeded: () => true,
  });
  const free = { whyNoUnload: () => null, whyHeld: () => null, isInUse: () => true };
  return { ...base, wanted: [], replicas, ...free, ...more };
}

const release = (name: string, id = "m"): PoolAction => ({ kind: "release", replica: `${name}\n${id}`, reason: "" });
const activate = (name: string, id = "m"): PoolAction => ({
  kind: "activate",
  model: id,
  pool: "stable",
  bins: [name],
  reason: "",
});

/** `load w:m`, `unload w:m`, or why not. */
function words(guarded: readonly Guarded[]): string[] {
  return guarded.map((next) => {
    switch (next.order) {
      case "load":
        return `load ${next.load.worker}:${next.load.model}${next.after ? ` after ${next.after.model}` : ""}`;
      case "unload":
        return `unload ${next.unload.worker}:${next.unload.model}`;
      case "move":
        return `load ${next.load.worker}:${next.load.model}, then unload ${next.old.worker}`;
      case "none":
        return next.why;
    }
  });
}

describe("a copy that a plan gives up", () => {
  const two = () => [machine("a", { m: "warm" }), machine("b", { m: "warm" })];

  it("goes when another one is warm, and one of two that are both to go stays", () => {
    const view = guardView(two());
    expect(words(guardActions([release("a")], view))).toEqual(["unload a:m"]);
    expect(words(guardActions([release("a"), release("b")], view))).toEqual([
      "unload a:m",
      "b has the last copy of it, and it is in use",
    ]);
  });

  it("stays under keepWarm, while it answers, while it loads, and while it is held", () => {
    const kept = guardView(two(), { wanted: want({ m: 2 }) });
    expect(words(guardActions([release("a")], kept))).toEqual(["a has a copy that is to stay warm"]);
    const busy = guardView(two());
    const { inflight } = viewOf([]);
    inflight.enter("a", "m");
    expect(words(guardActions([release("a")], { ...busy, inflight }))).toEqual(["a answers requests for it"]);
    const loading = guardView([machine("a", { m: "loading" }), machine("b", { m: "warm" })]);
    expect(words(guardActions([release("a")], loading))).toEqual(["a has not loaded it yet"]);
    const held = guardView(two(), { whyHeld: () => "keeps it for 1 s more" });
    expect(words(guardActions([release("a")], held))).toEqual(["a keeps it for 1 s more"]);
  });

  it("that is the last one goes only for a model that gets its place in the same plan", () => {
    const view = guardView([machine("a", { m: "warm", n: "cold" })]);
    expect(words(guardActions([release("a")], view))).toEqual(["a has the last copy of it, and it is in use"]);
    expect(words(guardActions([activate("a", "n"), release("a")], view))).toEqual(["load a:n after m"]);
    expect(words(guardActions([activate("a", "n")], view))).toEqual([
      "a might have to take out m, of which it has the last copy in use",
    ]);
  });
});

describe("a copy that a plan wants", () => {
  it("is ordered where it can be, one order for each worker", () => {
    const view = guardView([roomy("a", 2, { m: "cold", n: "cold" }), machine("b", { m: "warm" })]);
    expect(words(guardActions([activate("a"), activate("a", "n"), activate("b"), activate("c")], view))).toEqual([
      "load a:m",
      "a is at another order",
      "b has it warm",
      "c does not list it",
    ]);
    const ordered = guardView([roomy("a", 2, { m: "cold", n: "cold" })], { orders: pending(["a:n"]) });
    expect(words(guardActions([activate("a")], ordered))).toEqual(["a is at another order"]);
  });

  it("takes no place that keepWarm needs", () => {
    const view = guardView([machine("a", { m: "cold", n: "warm" })], { wanted: want({ n: 1 }), isInUse: () => false });
    expect(words(guardActions([activate("a")], view))).toEqual([
      "a would have to take out n, which is to stay warm too",
    ]);
  });

  it("by a move is loaded first", () => {
    const view = guardView([machine("a", { m: "warm" }), machine("b", { m: "cold" })]);
    const move: PoolAction = { kind: "move", replica: "a\nm", to: ["b"], reason: "" };
    expect(words(guardActions([move], view))).toEqual(["load b:m, then unload a"]);
    const kept = { ...view, whyNoUnload: (name: string) => (name === "a" ? "is not told for 10 s" : null) };
    expect(words(guardActions([move], kept))).toEqual(["a is not told for 10 s"]);
  });
});

describe("the farm as the pools see it", () => {
  const binsOf = (workers: readonly WorkerEntry[], isNeeded = true) =>
    farmBins({
      ...viewOf(workers),
      unloading: new Map(),
      speed: () => ({ compute: 1, bandwidth: 1 }),
      poolOf: () => "stable",
      isNeeded: () => isNeeded,
    });

  it("has no worker that is out, and leaves alone those that cannot be told, whose copies count all the same", () => {
    const always = worker("c", { engine: "tei", models: [model("m", "warm")] });
    const mute = worker("d", { engine: "openai", models: [model("m", "unknown")] });
    const lost = machine("b", { m: "warm" }, { health: "unhealthy" });
    const { bins, fixed, leftAlone, replicas } = binsOf([machine("a", { m: "warm" }), lost, always, mute]);
    expect(bins.map(({ id }) => id)).toEqual(["a"]);
    expect(replicas.map(({ id }) => id)).toEqual(["a\nm"]);
    expect([...fixed]).toEqual([["m", 1]]);
    expect([...leftAlone]).toEqual([
      ["c", "cannot be told to load a model"],
      ["d", "does not say what it has loaded"],
    ]);
  });

  it("has a pinned model's memory no more, and copies that nobody needs take no place", () => {
    const pinned = worker("a", {
      engine: "agent",
      models: [model("m", "warm", { memoryBytes: 10, pinned: true }), model("n", "warm", { memoryBytes: 5 })],
      memory: { budgetBytes: 30, usedBytes: 15 },
    });
    const { bins, replicas, fixed } = binsOf([pinned], false);
    expect(bins[0]?.capacity.memory).toBe(20);
    expect([replicas, [...fixed]]).toEqual([[], [["m", 1]]]);
  });

  it("counts an ordered copy as one that starts", () => {
    const view = { ...viewOf([machine("a", { m: "cold" })], pending(["a:m"])), unloading: new Map() };
    const { replicas } = farmBins({
      ...view,
      speed: () => ({ compute: 1, bandwidth: 1 }),
      poolOf: () => "elastic",
      isNeeded: () => true,
    });
    expect(replicas).toMatchObject([{ id: "a\nm", state: "starting", pool: "elastic" }]);
  });
});

describe("the last copy of a model that was asked for within the day", () => {
  it("makes room for the first copy of another one, and not for a further copy", () => {
    const first = [roomy("a", 1, { m: "warm", x: "cold" })];
    const actions = [release("a"), activate("a", "x")];
    expect(words(guardActions(actions, guardView(first)))).toEqual(["load a:x after m"]);
    const further = [...first, machine("b", { x: "warm" })];
    expect(words(guardActions(actions, guardView(further)))).toEqual([
      "a has the last copy of it, and it is in use",
      "a might have to take out m, of which it has the last copy in use",
    ]);
  });
});
