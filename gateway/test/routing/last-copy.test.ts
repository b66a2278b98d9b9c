import type { ModelState } from "@farmgate/shared";
import { describe, expect, it } from "vitest";
import type { WorkerEntry } from "../../src/catalog/types.ts";
import { LastCopies } from "../../src/placement/last-copies.ts";
import { RecentUse } from "../../src/placement/recent-use.ts";
import { choose } from "../../src/routing/choose.ts";
import { explain } from "../../src/routing/explain.ts";
import type { RoutingContext } from "../../src/routing/types.ts";
import { machine, roomy } from "../placement/view.ts";
import { ask, busy, type Farm, farm, model, sent, worker } from "./farm.ts";

/** A farm where these models were asked for a moment ago. */
function inUse(workers: readonly WorkerEntry[], models: readonly string[]): Farm & RoutingContext {
  const recentUse = new RecentUse();
  for (const key of models) recentUse.asked(key, 900);
  return { ...farm(workers), lastCopies: new LastCopies(recentUse) };
}

function chosen(context: RoutingContext, tried: readonly string[] = []) {
  const { worker: entry, reason } = sent(choose(ask("m"), context, new Set(tried)));
  return { worker: entry.config.name, reason };
}

const a = machine("a", { m: "cold", n: "warm" });
const b = machine("b", { m: "cold", x: "warm" });
const DROPS = "loading it here would drop the farm's last warm copy of n";

describe("a load that would drop the farm's last warm copy of a model in use", () => {
  it("goes to another cold worker, however busy that one is", () => {
    const context = inUse([a, b], ["n"]);
    busy(context, "b", 3, "x");
    expect(chosen(context).worker).toBe("b");
    expect(chosen(context).reason).not.toContain(DROPS);
  });

  it("goes there all the same when every other cold one would drop one too, or was tried, and says so", () => {
    expect(chosen(inUse([a, b], ["n", "x"]))).toMatchObject({ worker: "a", reason: expect.stringContaining(DROPS) });
    expect(chosen(inUse([a, b], ["n"]), ["b"])).toMatchObject({ worker: "a", reason: expect.stringContaining(DROPS) });
  });

  it("never goes to a lower set for it, nor is a warm worker passed over", () => {
    const failed = machine("f", { m: "failed" });
    expect(chosen(inUse([a, failed], ["n"])).worker).toBe("a");
    expect(chosen(inUse([machine("a", { m: "warm", n: "warm" }), b], ["n"])).worker).toBe("a");
  });

  it("yields to a worker at its cap no more than any other", () => {
    const full = { ...b, config: { ...b.config, maxConcurrent: 1 } };
    const context = inUse([a, full], ["n"]);
    busy(context, "b", 1, "x");
    expect(chosen(context).worker).toBe("a");
  });

  it("is explained as it is chosen", () => {
    const { ranked } = explain(ask("m"), inUse([a, b], ["n"]));
    expect(ranked.map(({ worker: name }) => name)).toEqual(["b", "a"]);
    expect(ranked[1]?.reason).toBe(`has it, not loaded; next after b, as ${DROPS}`);
  });
});

describe("a copy is not spared where", () => {
  const cases: [string, WorkerEntry[], string[]][] = [
    ["nothing is in use", [a, b], []],
    ["another model is in use", [a, b], ["x-y"]],
    ["it is not the last one", [a, b, machine("c", { n: "warm" })], ["n"]],
    ["both fit", [roomy("a", 2, { m: "cold", n: "warm" }), b], ["n"]],
    ["the engine does not tell of its memory", [machine("a", { m: "cold", n: "warm" }, { memory: null }), b], ["n"]],
    [
      "it is pinned, and something else must go",
      [
        machine(
          "a",
          {},
          {
            models: [model("m", "cold"), model("n", "warm", { pinned: true }), model("y", "warm")],
            memory: { budgetBytes: 20, usedBytes: 20 },
          },
        ),
        b,
      ],
      ["n"],
    ],
    [
      "it is pinned",
      [machine("a", {}, { models: [model("m", "cold"), model("n", "warm", { pinned: true })] }), b],
      ["n"],
    ],
  ];
  it.each(cases)("%s", (_, workers, models) => {
    expect(chosen(inUse(workers, models)).worker).toBe("a");
  });
});

describe("a copy counts as the last one where the other", () => {
  it.each([
    ["is on a worker that drains", { draining: true }],
    ["is on a worker that refused a connection", { refused: true }],
    ["is on a worker that is unhealthy", { health: "unhealthy" as const }],
  ])("%s", (_, trouble) => {
    const other = machine("c", { n: "warm" }, trouble);
    expect(chosen(inUse([a, b, other], ["n"])).worker).toBe("b");
  });
});

it("holds also for an engine that swaps unseen, and for a budget that would be exceeded", () => {
  const states: [string, ModelState][] = [
    ["m", "cold"],
    ["n", "warm"],
  ];
  const mlx = worker("a", { engine: "mlx", models: states.map(([id, state]) => model(id, state)) });
  expect(chosen(inUse([mlx, b], ["n"])).worker).toBe("b");
  expect(chosen(inUse([roomy("a", 1, Object.fromEntries(states)), b], ["n"])).worker).toBe("b");
});

it("is found anew when the farm, what is in use, or the time changes", () => {
  const recentUse = new RecentUse();
  const lastCopies = new LastCopies(recentUse);
  const { catalog } = farm([a, b]);
  const on = (now: number, at = catalog) => lastCopies.on("a", at, now).map(({ id }) => id);
  expect(on(0)).toEqual([]);
  recentUse.asked("n", 0);
  expect(on(1)).toEqual(["n"]);
  expect(on(2, { ...farm([a, machine("c", { n: "warm" })]).catalog, version: 2 })).toEqual([]);
  expect(on(3, { ...catalog, version: 3 })).toEqual(["n"]);
  expect(on(15 * 60_000, { ...catalog, version: 3 })).toEqual([]);
});

it("costs a choice among 1,000 cold workers little", () => {
  const ids = Array.from({ length: 100 }, (_, i) => `model-${i}`);
  const workers = Array.from({ length: 1_000 }, (_, w) =>
    machine(`worker-${w}`, {
      m: "cold",
      ...Object.fromEntries(ids.map((id, i) => [id, i === w % 997 ? "warm" : "cold"])),
    }),
  );
  const context = inUse(workers, ids);
  const times: number[] = [];
  for (let i = 0; i < 200; i += 1) {
    const start = performance.now();
    expect(sent(choose(ask("m"), context, new Set())).set).toBe("cold");
    times.push(performance.now() - start);
  }
  const median = times.sort((x, y) => x - y)[times.length >> 1] ?? 0;
  // The aim is 0.1 ms on a quiet machine; the ceiling leaves room for a busy one.
  expect(median).toBeLessThan(5);
});
