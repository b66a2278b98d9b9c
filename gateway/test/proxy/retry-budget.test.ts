import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RetryBudget } from "../../src/proxy/retry-budget.ts";

const taken = (budget: RetryBudget, tries: number, share: number, underWay: number, now: number) =>
  Array.from({ length: tries }, () => budget.take(share, underWay, now)).filter(Boolean).length;

describe("the retry budget", () => {
  it("lets every request of one killed worker of three move on, with 200 under way", () => {
    expect(taken(new RetryBudget(), 67, 0.2, 200, 0)).toBe(67);
  });

  it("is a share of the requests of the last ten seconds beside its reserve", () => {
    const budget = new RetryBudget();
    for (let i = 0; i < 1_000; i += 1) budget.arrived(i * 10);
    expect(taken(budget, 500, 0.2, 0, 9_999)).toBe(300);
    expect(budget.take(0.2, 0, 18_000)).toBe(false);
    expect(budget.roomInS(18_000)).toBe(1);
    expect(taken(budget, 500, 0.2, 0, 19_999)).toBe(100);
  });

  it("counts what is under way where that is more than what came of late", () => {
    expect(taken(new RetryBudget(), 500, 0.2, 1_000, 0)).toBe(300);
  });

  it("without a share is ten a second", () => {
    const budget = new RetryBudget();
    for (let i = 0; i < 1_000; i += 1) budget.arrived(i);
    expect(taken(budget, 500, 0, 1_000, 1_000)).toBe(100);
    expect([budget.roomInS(1_000), budget.roomInS(4_500)]).toEqual([10, 7]);
  });

  it("is never exceeded in any ten seconds, whatever comes when", () => {
    const step = fc.record({
      wait: fc.constantFrom(0, 0, 3, 400, 1_500, 9_000),
      requests: fc.nat(60),
      retries: fc.nat(120),
      underWay: fc.nat(300),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.constantFrom(0, 0.2, 1), (steps, share) => {
        const budget = new RetryBudget();
        const came: number[] = [];
        const granted: number[] = [];
        let now = 5_000;
        for (const { wait, requests, retries, underWay } of steps) {
          now += wait;
          for (let i = 0; i < requests; i += 1) {
            came.push(now);
            budget.arrived(now);
          }
          const count = taken(budget, retries, share, underWay, now);
          for (let i = 0; i < count; i += 1) granted.push(now);
          if (count === 0) continue;
          // Seconds are counted whole: of ten seconds the first may not be in it in full.
          const from = Math.floor(now / 1_000) - 9;
          const inWindow = (at: number) => Math.floor(at / 1_000) >= from;
          const recent = Math.max(underWay, came.filter(inWindow).length);
          expect(granted.filter(inWindow).length).toBeLessThanOrEqual(share * recent + 100);
        }
      }),
    );
  });
});
