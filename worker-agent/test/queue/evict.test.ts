import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cheapestSet, type Evictable } from "../../src/queue/evict.ts";

const MINUTE = 60_000;

const model = (name: string, over: Partial<Evictable> = {}): Evictable => {
  return { name, weight: 10, reloadMs: 10_000, idleMs: 0, waiting: 0, usedSeq: 0, ...over };
};

const names = (models: readonly Evictable[] | null) =>
  models
    ?.map(({ name }) => name)
    .sort()
    .join(" ") ?? null;

describe("the cheapest set", () => {
  it("is nobody when there is nothing to free, and none when all are not enough", () => {
    expect(cheapestSet([model("a")], 0)).toEqual([]);
    expect(cheapestSet([model("a")], -5)).toEqual([]);
    expect(cheapestSet([model("a"), model("b")], 21)).toBeNull();
  });

  it("spares what takes long to load again", () => {
    const slow = model("slow", { reloadMs: 90_000 });
    expect(names(cheapestSet([slow, model("quick")], 10))).toBe("quick");
    expect(names(cheapestSet([slow, model("q1", { weight: 5 }), model("q2", { weight: 5 })], 10))).toBe("q1 q2");
  });

  it("takes a load time that is not known for half a minute", () => {
    const unknown = model("unknown", { reloadMs: null });
    expect(names(cheapestSet([unknown, model("a", { reloadMs: 29_000 })], 10))).toBe("a");
    expect(names(cheapestSet([unknown, model("a", { reloadMs: 31_000 })], 10))).toBe("unknown");
  });

  it("spares what was used lately, the more so the longer it takes to load again", () => {
    const models = [model("old", { idleMs: 30 * MINUTE }), model("new", { idleMs: MINUTE })];
    expect(names(cheapestSet(models, 10))).toBe("old");
    const slow = model("slow", { idleMs: 30 * MINUTE, reloadMs: 200_000 });
    expect(names(cheapestSet([slow, model("quick", { idleMs: MINUTE })], 10))).toBe("quick");
  });

  it("spares what is waited for", () => {
    expect(names(cheapestSet([model("asked", { waiting: 3 }), model("a", { reloadMs: 35_000 })], 10))).toBe("a");
  });

  it("takes of equals the one used longest ago, and one rather than two", () => {
    expect(names(cheapestSet([model("b", { usedSeq: 2 }), model("a", { usedSeq: 1 })], 10))).toBe("a");
    const halves = [model("x", { weight: 5, reloadMs: 5_000 }), model("y", { weight: 5, reloadMs: 5_000 })];
    expect(names(cheapestSet([...halves, model("whole")], 10))).toBe("whole");
  });

  it("is sufficient, has nobody superfluous, and up to twelve costs no more than any other", () => {
    const some = fc.array(
      fc.record({
        weight: fc.integer({ min: 1, max: 9 }),
        reloadMs: fc.integer({ min: 1, max: 9 }),
        waiting: fc.nat(2),
      }),
      { minLength: 1, maxLength: 16 },
    );
    fc.assert(
      fc.property(some, fc.integer({ min: 1, max: 40 }), (list, toFree) => {
        const models = list.map((one, index) => model(String(index), { ...one, usedSeq: index }));
        const weigh = (set: readonly Evictable[]) => set.reduce((sum, { weight }) => sum + weight, 0);
        const cost = (set: readonly Evictable[]) =>
          set.reduce((sum, { reloadMs, waiting }) => sum + (reloadMs ?? 0) * (waiting > 0 ? 1 + waiting : 1), 0);
        const chosen = cheapestSet(models, toFree);
        expect(chosen === null).toBe(weigh(models) < toFree);
        if (chosen === null) return;
        expect(weigh(chosen)).toBeGreaterThanOrEqual(toFree);
        for (const one of chosen) expect(weigh(chosen) - one.weight).toBeLessThan(toFree);
        if (models.length > 8) return;
        const others: number[] = [];
        for (let members = 0; members < 2 ** models.length; members += 1) {
          const other = models.filter((_, place) => (members & (1 << place)) !== 0);
          if (weigh(other) >= toFree) others.push(cost(other));
        }
        expect(cost(chosen)).toBe(Math.min(...others));
      }),
      { numRuns: 300 },
    );
  });
});
