import { describe, expect, it } from "vitest";
import type { WorkerEntry } from "../../src/catalog/types.ts";
import { decideLoads } from "../../src/placement/decide-loads.ts";
import { orderFailed } from "../../src/placement/orders.ts";
import { busy, farm, model, worker, type WorkerSketch } from "../routing/farm.ts";
import { meantCopies } from "../../src/placement/wanted-copies.ts";
import { loads, machine, pending, roomy, shown, viewOf, want } from "./view.ts";

/** Which of them is told to load one copy of m. */
function first(...workers: WorkerEntry[]): string | undefined {
  return loads({ m: 1 }, viewOf(workers))[0];
}

describe("as many copies are ordered as are missing", () => {
  const cold = (name: string) => machine(name, { m: "cold" });
  it.each([
    ["nothing is warm", [cold("a"), cold("b"), cold("c")], ["a:m", "b:m"]],
    ["one is warm", [cold("a"), machine("b", { m: "warm" }), cold("c")], ["a:m"]],
    ["one is loading", [cold("a"), machine("b", { m: "loading" }), cold("c")], ["a:m"]],
    ["enough are warm", [cold("a"), machine("b", { m: "warm" }), machine("c", { m: "warm" })], []],
    ["more than enough are warm", ["a", "b", "c"].map((name) => machine(name, { m: "warm" })), []],
    ["one worker alone lists it", [cold("a"), machine("b", { n: "cold" })], ["a:m"]],
  ])("%s", (_, workers, expected) => {
    expect(loads({ m: 2 }, viewOf(workers))).toEqual(expected);
  });

  it("and an order that is pending counts as a copy", () => {
    const workers = [cold("a"), cold("b"), cold("c")];
    expect(loads({ m: 2 }, viewOf(workers, pending(["b:m"])))).toEqual(["a:m"]);
    expect(loads({ m: 2 }, viewOf(workers, pending(["b:m", "c:m"])))).toEqual([]);
  });

  it("by whichever name the worker has for it, in its own spelling", () => {
    const odd = machine("a", {}, { models: [model("Org/M:latest", "cold", { aliases: ["m"] })] });
    const view = viewOf([odd]);
    expect(decideLoads(meantCopies(want({ m: 1 }), view.catalog), view).map(shown)).toEqual(["a:Org/M:latest"]);
  });

  it("on no worker that has the name for another model", () => {
    const other = machine("a", {}, { models: [model("big", "cold", { aliases: ["m"] })] });
    const view = viewOf([other, cold("b")]);
    expect(decideLoads(meantCopies(want({ m: 2 }), view.catalog), view).map(shown)).toEqual(["b:m"]);
  });
});

describe("a copy does not count, and another is ordered, where its worker", () => {
  const cases: [string, WorkerSketch][] = [
    ["is unhealthy", { health: "unhealthy" }],
    ["is misconfigured", { health: "misconfigured" }],
    ["has not answered yet", { health: "unknown" }],
    ["is draining", { draining: true }],
    ["refused the last connection", { refused: true }],
    ["has its breaker open for it", { open: { m: 2_000 } }],
    ["is set aside for it", { aside: { m: 2_000 } }],
  ];
  it.each(cases)("%s", (_, trouble) => {
    const out = machine("out", { m: "warm" }, trouble);
    expect(loads({ m: 1 }, viewOf([out, machine("b", { m: "cold" })]))).toEqual(["b:m"]);
  });

  it.each(cases)("and none is ordered from one that %s", (_, trouble) => {
    expect(first(machine("out", { m: "cold" }, trouble))).toBeUndefined();
  });

  it.each(["stale", "unreachable"] as const)(
    "but a %s catalogue alone takes no copy away, though no order goes there",
    (catalog) => {
      expect(first(machine("a", { m: "warm" }, { catalog }), machine("b", { m: "cold" }))).toBeUndefined();
      expect(first(machine("a", { m: "cold" }, { catalog }), machine("b", { m: "cold" }))).toBe("b:m");
    },
  );

  it("is told to load what takes it out of memory", () => {
    const a = machine("a", { m: "warm", n: "cold" });
    expect(loads({ m: 1 }, viewOf([a, machine("b", { m: "cold" })], pending(["a:n"])))).toEqual(["b:m"]);
  });
});

describe("nothing is ordered from a worker that", () => {
  it("is at another order", () => {
    expect(loads({ m: 1 }, viewOf([machine("a", { m: "cold", n: "cold" })], pending(["a:n"])))).toEqual([]);
    expect(loads({ m: 1, n: 1 }, viewOf([roomy("a", 4, { m: "cold", n: "cold" })]))).toEqual(["a:m"]);
  });

  it("failed its last order, until the pause is over", () => {
    const book = orderFailed(pending(["a:m"]), "a", "m", "no memory", 1_000);
    const at = (now: number) => loads({ m: 1 }, viewOf([machine("a", { m: "cold" })], book, now));
    expect([at(10_999), at(11_000)]).toEqual([[], ["a:m"]]);
  });

  it("cannot say what it has loaded, or cannot be told to load", () => {
    expect(first(machine("a", { m: "unknown" }))).toBeUndefined();
    expect(first(worker("a", { engine: "tei", models: [model("m", "cold")] }))).toBeUndefined();
    expect(first(worker("a", { engine: null, models: [model("m", "cold")] }))).toBeUndefined();
  });

  it("would have to take out the last wanted copy of another model, so that no two take turns", () => {
    const a = machine("a", { m: "cold", n: "warm" });
    expect(loads({ m: 1, n: 1 }, viewOf([a]))).toEqual([]);
    expect(loads({ m: 1, n: 1 }, viewOf([a, machine("b", { n: "warm" })]))).toEqual(["a:m"]);
    expect(loads({ m: 2, n: 1 }, viewOf([a, machine("b", { n: "warm", m: "cold" })]))).toEqual(["a:m"]);
  });
});

it("counts a pinned model as no obstacle, since it stays", () => {
  const models = [model("p", "warm", { pinned: true }), model("m", "cold")];
  expect(loads({ m: 1, p: 1 }, viewOf([machine("a", {}, { models })]))).toEqual(["a:m"]);
});

describe("the worker that is told is", () => {
  it("one where it fits, then one that does not tell, then one that must take something out", () => {
    const evicts = machine("evicts", { m: "cold", x: "warm" });
    const silent = machine("silent", { m: "cold", x: "warm" }, { memory: null });
    const fits = roomy("fits", 2, { m: "cold", x: "warm" });
    expect(loads({ m: 3 }, viewOf([evicts, silent, fits]))).toEqual(["fits:m", "silent:m", "evicts:m"]);
    expect(first(roomy("full", 1, { m: "cold", x: "warm" }), silent)).toBe("silent:m");
  });

  it("one whose last load did not fail", () => {
    expect(first(machine("a", { m: "failed" }), machine("b", { m: "cold", x: "warm" }))).toBe("b:m");
  });

  it("one that loses no last copy of a model in use", () => {
    const view = viewOf([
      machine("a", { m: "cold", last: "warm" }),
      machine("b", { m: "cold", other: "warm" }),
      machine("c", { other: "warm" }),
    ]);
    view.recentUse.asked("last", 900);
    view.recentUse.asked("other", 900);
    expect(loads({ m: 1 }, view)).toEqual(["b:m"]);
  });

  it("the one whose warm models have the fewest requests, then the fewest models in use", () => {
    const workers = ["a", "b", "c"].map((name) => machine(name, { m: "cold", [`of-${name}`]: "warm" }));
    const spare = machine("d", { "of-a": "warm", "of-b": "warm", "of-c": "warm" });
    const view = viewOf([...workers, spare]);
    busy({ ...farm([]), inflight: view.inflight }, "a", 1, "of-a");
    view.recentUse.asked("of-b", 900);
    expect(loads({ m: 3 }, view)).toEqual(["c:m", "b:m", "a:m"]);
  });

  it("of two that are alike the one that has it in its page cache, and is loaded soonest", () => {
    const box = (name: string, loadMs: number | null) =>
      machine(name, {}, { models: [model("m", "cold", { memoryBytes: 10, loadMs })] });
    expect(loads({ m: 3 }, viewOf([box("untold", null), box("disk", 60_000), box("cached", 6_000)]))).toEqual([
      "cached:m",
      "disk:m",
      "untold:m",
    ]);
  });

  it("the one with the fewest requests, then with the fewest wanted copies, then the first", () => {
    const view = viewOf([
      roomy("a", 9, { m: "cold" }),
      roomy("b", 9, { m: "cold", n: "warm" }),
      roomy("c", 9, { m: "cold" }),
      roomy("d", 9, { m: "cold" }),
    ]);
    busy({ ...farm([]), inflight: view.inflight }, "a", 1, "x");
    expect(loads({ n: 1, m: 4 }, view)).toEqual(["c:m", "d:m", "b:m", "a:m"]);
  });

  it("said with the reason", () => {
    const view = viewOf([machine("a", { m: "warm" }), machine("b", { m: "cold", x: "warm", y: "cold" })]);
    expect(decideLoads(want({ m: 2 }), view)[0]?.reason).toBe("copy 2 of 2; something has to go for it: x");
  });
});
