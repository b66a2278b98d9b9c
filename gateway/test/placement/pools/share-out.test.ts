import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Claim, shareOut } from "../../../src/placement/pools/share-out.ts";

function claim(id: string, heat: number, over: Partial<Claim> = {}): Claim {
  return { id, model: id, span: 1, wanted: 100, heat, weight: heat, ...over };
}

const counts = (claims: readonly Claim[], budget: number) => Object.fromEntries(shareOut(claims, budget).counts);

describe("sharing bins out", () => {
  it("gives all what they want where that is within the budget: 2 + 3 of 6", () => {
    expect(counts([claim("a", 1, { wanted: 2 }), claim("b", 9, { wanted: 3 })], 6)).toEqual({ a: 2, b: 3 });
  });

  it("gives what is left to the largest remainders: 10 by 47:33:20 is 5, 3, 2", () => {
    expect(counts([claim("a", 47), claim("b", 33), claim("c", 20)], 10)).toEqual({ a: 5, b: 3, c: 2 });
  });

  it("gives it to the lower heat where remainders are equal: 5 by 1.5 : 3.5 is 2, 3 and 3 by equal weights 2, 1", () => {
    const even = [claim("hot", 9, { weight: 1 }), claim("cold", 1, { weight: 1 })];
    expect(counts(even, 3)).toEqual({ hot: 1, cold: 2 });
  });

  it("gives one at least to each, at the cost of the coldest that has more: 4 by 98:1:1 is 2, 1, 1", () => {
    expect(counts([claim("a", 98), claim("b", 1), claim("c", 1)], 4)).toEqual({ a: 2, b: 1, c: 1 });
  });

  it("drops the coldest model, all its lines at once, where one for each is too many: 3 bins for 2 + 2 lines", () => {
    const lines = [
      claim("a/p", 5, { model: "a" }),
      claim("a/d", 5, { model: "a" }),
      claim("b/p", 4, { model: "b" }),
      claim("b/d", 5, { model: "b" }),
    ];
    const { dropped, counts } = shareOut(lines, 3);
    expect(dropped).toEqual(["b"]);
    expect([...counts.keys()]).toEqual(["a/p", "a/d"]);
  });

  it("shares what one has no use for among the others: 10 by 50:50, one of which wants 2, is 2, 8", () => {
    expect(counts([claim("a", 50, { wanted: 2 }), claim("b", 50)], 10)).toEqual({ a: 2, b: 8 });
  });

  it("counts bins, not replicas: 8 bins by 50:50 for spans of 4 and 1 is 1, 4", () => {
    expect(counts([claim("wide", 50, { span: 4 }), claim("b", 50)], 8)).toEqual({ wide: 1, b: 4 });
  });

  it("sums to the budget, one at least each, none above what it wants, where all are one bin wide", () => {
    const anyClaim = fc.record({ heat: fc.nat(1_000), wanted: fc.integer({ min: 1, max: 40 }) });
    fc.assert(
      fc.property(
        fc.array(anyClaim, { minLength: 1, maxLength: 20 }),
        fc.integer({ min: 1, max: 200 }),
        (given, budget) => {
          const claims = given.map(({ heat, wanted }, n) => claim(`m${n}`, heat, { wanted }));
          const { counts, dropped } = shareOut(claims, budget);
          const wanted = claims.filter(({ id }) => !dropped.includes(id)).reduce((sum, each) => sum + each.wanted, 0);
          const shared = [...counts.values()].reduce((sum, count) => sum + count, 0);
          expect(shared).toBe(Math.min(budget, wanted));
          expect(dropped).toHaveLength(Math.max(0, claims.length - budget));
          for (const [id, count] of counts) {
            expect(count).toBeGreaterThanOrEqual(1);
            expect(count).toBeLessThanOrEqual(claims.find((each) => each.id === id)?.wanted ?? 0);
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  it("stays within the budget with replicas of several bins", () => {
    const anyClaim = fc.record({
      heat: fc.nat(1_000),
      wanted: fc.integer({ min: 1, max: 9 }),
      span: fc.constantFrom(1, 2, 4),
    });
    fc.assert(
      fc.property(fc.array(anyClaim, { maxLength: 12 }), fc.nat(60), (given, budget) => {
        const claims = given.map((each, n) => claim(`m${n}`, each.heat, each));
        const { counts } = shareOut(claims, budget);
        const used = claims.reduce((sum, { id, span }) => sum + span * (counts.get(id) ?? 0), 0);
        expect(used).toBeLessThanOrEqual(budget);
        for (const count of counts.values()) expect(count).toBeGreaterThanOrEqual(1);
      }),
      { numRuns: 150 },
    );
  });
});
