import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { allowance, takeRequest } from "../src/request-rate.ts";

/** When of these times a request was taken. */
function taken(times: readonly number[], perMinute: number): number[] {
  let fullAt: number | undefined;
  return times.filter((now) => {
    const next = takeRequest(fullAt, now, perMinute);
    fullAt = next.fullAt;
    return next.taken;
  });
}

const steps = fc.array(fc.integer({ min: 0, max: 20_000 }), { maxLength: 200 });
const timesOf = (gaps: readonly number[]) => {
  let now = 0;
  return gaps.map((gap) => (now += gap));
};

describe("a key's requests a minute", () => {
  it.each([1, 2, 7, 60, 333])("are %i at once at rest, and the next when its share of the minute has passed", (n) => {
    expect(taken(Array(n + 5).fill(0), n)).toHaveLength(n);
    const spent = Array.from({ length: n }).reduce<number>((fullAt) => takeRequest(fullAt, 0, n).fullAt, 0);
    const refused = takeRequest(spent, 0, n);
    expect(refused).toMatchObject({ taken: false, remaining: 0 });
    expect(refused.retryMs).toBeCloseTo(60_000 / n);
    expect(takeRequest(spent, refused.retryMs - 0.5, n).taken).toBe(false);
    expect(takeRequest(spent, refused.retryMs, n).taken).toBe(true);
    expect(allowance(spent, 60_000, n)).toMatchObject({ remaining: n, resetMs: 0 });
  });

  it("are never more in any stretch of time than were there at its start and came back in it", () => {
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 40 }), (gaps, n) => {
        const times = taken(timesOf(gaps), n);
        const most = (from: number, to: number) => n + ((to - from) * n) / 60_000 + 1e-3;
        const over = times.flatMap((from, i) => times.filter((to, j) => j >= i && j - i + 1 > most(from, to)));
        expect(over).toEqual([]);
      }),
    );
  });

  it("are all there for who keeps to the rate", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), fc.integer({ min: 1, max: 100 }), (n, count) => {
        const times = Array.from({ length: count }, (_, i) => (i * 60_000) / n);
        expect(taken(times, n)).toEqual(times);
      }),
    );
  });

  it("can come when `retryMs` has passed, and not before", () => {
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 40 }), (gaps, n) => {
        let fullAt: number | undefined;
        const at = (ms: number) => takeRequest(fullAt, ms, n).taken;
        const told = timesOf(gaps).map((now) => {
          const next = takeRequest(fullAt, now, n);
          fullAt = next.fullAt;
          return next.taken || (at(now + next.retryMs + 1e-3) && !at(now + next.retryMs - 1));
        });
        expect(told).not.toContain(false);
      }),
    );
  });
});
