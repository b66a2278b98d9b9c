import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Turns } from "../../src/routing/turns.ts";

function lowest(turns: Turns, workers: readonly string[]): string {
  return workers.toSorted((a, b) => turns.pass(a, "m") - turns.pass(b, "m"))[0] ?? "";
}

describe("turns", () => {
  it("never let a worker fall more than one pick behind or ahead of its share", () => {
    const weights = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 2, maxLength: 6 });
    fc.assert(
      fc.property(weights, fc.integer({ min: 1, max: 300 }), (all, picks) => {
        const turns = new Turns();
        const names = all.map((_, i) => `w${i}`);
        const counts = new Map(names.map((name) => [name, 0]));
        const sum = all.reduce((a, b) => a + b, 0);
        for (let i = 0; i < picks; i += 1) {
          const name = lowest(turns, names);
          turns.picked(name, "m", all[names.indexOf(name)] ?? 1);
          counts.set(name, (counts.get(name) ?? 0) + 1);
        }
        for (const [i, name] of names.entries()) {
          const share = (picks * (all[i] ?? 1)) / sum;
          // Stride scheduling's own bound for one against all others.
          expect(Math.abs((counts.get(name) ?? 0) - share)).toBeLessThanOrEqual(names.length);
        }
      }),
    );
  });

  it("start a newcomer at the present, not at zero", () => {
    const turns = new Turns();
    for (let i = 0; i < 100; i += 1) turns.picked("old", "m", 1);
    expect(turns.pass("new", "m")).toBe(99);
    expect(turns.pass("old", "m")).toBe(100);
  });

  it("forget workers that are gone, and models that nobody asked for in a long time", () => {
    const turns = new Turns();
    turns.picked("gone", "m", 1);
    turns.picked("here", "m", 1);
    turns.keepOnly(new Set(["here"]));
    expect(turns.pass("gone", "m")).toBe(turns.pass("never seen", "m"));
    for (let i = 0; i < 10_000; i += 1) turns.picked("here", `model-${i}`, 1);
    expect(turns.pass("here", "m")).toBe(0);
  });
});
