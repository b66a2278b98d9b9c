import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DrainRate } from "../../src/admission/drain-rate.ts";

describe("the rate at which requests end", () => {
  it("is not known before one has, nor when none has for a minute", () => {
    const rate = new DrainRate();
    expect(rate.perSecond(5_000)).toBeNull();
    rate.ended(10_000, 0);
    expect(rate.perSecond(10_500)).toBe(1);
    expect(rate.perSecond(60_000)).toBeGreaterThan(0);
    expect(rate.perSecond(72_000)).toBeNull();
    expect(rate.perSecond(10_000_000)).toBeNull();
  });

  it("is that of a steady flow, however long and however uneven the looks", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 100_000_000 }),
        fc.integer({ min: 1, max: 4_000 }),
        fc.integer({ min: 20, max: 500 }),
        (start, everyMs, count) => {
          // A flow that has lasted for less than a second says little.
          fc.pre(everyMs * count > 1_000);
          const rate = new DrainRate();
          for (let i = 0; i < count; i += 1) rate.ended(start + i * everyMs, 0);
          const seen = rate.perSecond(start + count * everyMs) ?? 0;
          expect(seen * everyMs).toBeGreaterThan(1_000 * 0.85);
          expect(seen * everyMs).toBeLessThan(1_000 * 1.15 + everyMs);
        },
      ),
    );
  });

  it("follows a change within a minute", () => {
    const rate = new DrainRate();
    for (let at = 0; at < 600_000; at += 10) rate.ended(at, 0);
    for (let at = 600_000; at < 660_000; at += 1_000) rate.ended(at, 0);
    expect(rate.perSecond(661_000)).toBeLessThan(1.2);
  });

  it("knows how long requests were under way, by those that ended within a minute", () => {
    const rate = new DrainRate();
    expect(rate.meanS(0)).toBeNull();
    rate.ended(1_000, 30_000);
    rate.ended(40_000, 100);
    rate.ended(41_000, 300);
    expect(rate.meanS(42_000)).toBeCloseTo(30.4 / 3);
    expect(rate.meanS(70_000)).toBeCloseTo(0.2);
    expect(rate.meanS(200_000)).toBeNull();
  });
});
