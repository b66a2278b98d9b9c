import { describe, expect, it } from "vitest";
import { choose } from "../../src/routing/choose.ts";
import type { Strategy } from "../../src/routing/types.ts";
import { ask, type Farm, farm, model, sent, type WorkerSketch, worker } from "./farm.ts";

const warm = (name: string, sketch: WorkerSketch = {}) => worker(name, { models: [model("m", "warm")], ...sketch });
const unequal = (strategy: Strategy) =>
  farm([warm("big", { weight: 8 }), warm("small", { weight: 1 }), warm("other", { weight: 1 })], strategy);

/** Requests that each end before the next comes, so that only turns tell workers apart. */
function inTurn(context: Farm, count: number, tried: ReadonlySet<string> = new Set()): string[] {
  return Array.from({ length: count }, () => {
    const { worker: entry, turnWeight } = sent(choose(ask("m"), context, tried));
    context.turns.picked(entry.config.name, "m", turnWeight);
    return entry.config.name;
  });
}

const countOf = (names: readonly string[], name: string) => names.filter((each) => each === name).length;

describe("weighted", () => {
  it("gives 8:1:1 their shares of 1,000 requests, and evenly at every moment", () => {
    const picks = inTurn(unequal("weighted"), 1_000);
    expect(countOf(picks, "big")).toBeGreaterThanOrEqual(760);
    expect(countOf(picks, "big")).toBeLessThanOrEqual(840);
    for (let from = 0; from + 10 <= picks.length; from += 1) {
      const window = picks.slice(from, from + 10);
      expect(countOf(window, "big")).toBeGreaterThanOrEqual(7);
      expect(countOf(window, "big")).toBeLessThanOrEqual(9);
    }
  });

  it("gives no burst to a worker that comes back", () => {
    const context = unequal("weighted");
    inTurn(context, 500, new Set(["small"]));
    const after = inTurn(context, 20);
    expect(countOf(after, "small")).toBeGreaterThanOrEqual(1);
    expect(countOf(after, "small")).toBeLessThanOrEqual(3);
  });

  it("keeps the turns of each model apart", () => {
    const context = unequal("weighted");
    inTurn(context, 500, new Set(["big"]));
    expect(context.turns.pass("small", "another")).toBe(0);
  });
});

describe("round-robin", () => {
  it("takes turns whatever the weights", () => {
    const picks = inTurn(unequal("round-robin"), 30);
    expect(["big", "small", "other"].map((name) => countOf(picks, name))).toEqual([10, 10, 10]);
    expect(new Set(picks.slice(0, 3)).size).toBe(3);
  });
});

describe("least-connections at a tie", () => {
  it("shadows nobody: equal idle workers take turns", () => {
    const picks = inTurn(farm(["a", "b", "c", "d"].map((name) => warm(name))), 40);
    expect(["a", "b", "c", "d"].map((name) => countOf(picks, name))).toEqual([10, 10, 10, 10]);
  });

  it("gives an idle farm's requests out by capacity", () => {
    const picks = inTurn(unequal("least-connections"), 100);
    expect(["big", "small", "other"].map((name) => countOf(picks, name))).toEqual([80, 10, 10]);
  });
});
