import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { retryAfter } from "../src/index.ts";

const unit = fc.double({ min: 0, max: 1, noNaN: true });
const count = fc.integer({ min: 0, max: 1_000_000 });
const rate = fc.double({ min: 0.001, max: 10_000, noNaN: true });

describe("the time after which a refused request is to come again", () => {
  it("is in whole seconds from 1 to 60, whatever is known", () => {
    fc.assert(
      fc.property(count, fc.oneof(rate, fc.constant(null), fc.constant(0)), unit, (ahead, perSecond, random) => {
        const seconds = retryAfter(ahead, perSecond, random);
        expect(Number.isInteger(seconds)).toBe(true);
        expect(seconds).toBeGreaterThanOrEqual(1);
        expect(seconds).toBeLessThanOrEqual(60);
      }),
    );
  });

  it("is the time that those before it take, by a quarter more or less", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000 }), rate, unit, (ahead, perSecond, random) => {
        const real = ahead / perSecond;
        fc.pre(real >= 1 && real <= 48);
        const seconds = retryAfter(ahead, perSecond, random);
        expect(seconds).toBeGreaterThanOrEqual(Math.floor(real * 0.75));
        expect(seconds).toBeLessThanOrEqual(Math.ceil(real * 1.25) + 1);
      }),
    );
  });

  it("never falls when more are before it or fewer end", () => {
    fc.assert(
      fc.property(count, count, rate, rate, unit, (a, b, r, s, random) => {
        const [fewer, more, slower, faster] = [Math.min(a, b), Math.max(a, b), Math.min(r, s), Math.max(r, s)];
        expect(retryAfter(more, slower, random)).toBeGreaterThanOrEqual(retryAfter(fewer, faster, random));
      }),
    );
  });

  it("is spread, so that those refused in one instant do not come back in one", () => {
    const told = Array.from({ length: 100 }, (_, i) => retryAfter(40, 2, i / 100));
    expect(new Set(told).size).toBeGreaterThanOrEqual(10);
  });
});
