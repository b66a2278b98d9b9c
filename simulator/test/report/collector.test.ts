import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Collector } from "../../src/report/collector.ts";
import { LogHistogram } from "../../src/report/log-histogram.ts";

const applications = [
  { name: "quick", ttftMs: 100, tpotMs: 10 },
  { name: "slow", ttftMs: 1_000, tpotMs: 50 },
  { name: "unasked", ttftMs: 1, tpotMs: 1 },
];

describe("a run's figures", () => {
  it("count a request as on time only when it is done within both limits", () => {
    const collector = new Collector({ applications, spanMs: 60_000 });
    collector.ended(0, 0, 100, 190, 10, "done");
    collector.ended(0, 0, 101, 190, 10, "done");
    collector.ended(0, 0, 50, 200, 10, "done");
    collector.ended(0, 0, 50, 60, 2, "failed");
    collector.ended(0, 0, Number.NaN, 0, 0, "refused");
    collector.ended(0, 0, Number.NaN, 300, 0, "timed-out");
    collector.ended(0, 0, 90, 90, 1, "done");
    const { outcomes, requests, onTime, attainment } = collector.report("p", 60_000);
    expect({ outcomes, requests, onTime, attainment }).toEqual({
      outcomes: { done: 4, refused: 1, "timed-out": 1, failed: 1 },
      requests: 7,
      onTime: 2,
      attainment: 2 / 7,
    });
  });

  it("take a request's own limit in place of its application's", () => {
    const collector = new Collector({ applications, spanMs: 1_000 });
    collector.ended(0, 0, 500, 500, 1, "done", 0, 600);
    collector.ended(1, 0, 500, 500, 1, "done", 0, 400);
    expect(collector.report("p", 1_000).applications.map(({ onTime }) => onTime)).toEqual([1, 0, 0]);
  });

  it("name the worst application of those that were asked for anything", () => {
    const collector = new Collector({ applications, spanMs: 1_000 });
    collector.ended(0, 0, 10, 10, 1, "done");
    collector.ended(1, 0, 10, 10, 1, "done");
    collector.ended(1, 0, 10, 10, 1, "failed");
    const report = collector.report("p", 1_000);
    expect(report.worst).toEqual({ application: "slow", attainment: 0.5 });
    expect(report.meanOfApplications).toBe(0.75);
    expect(new Collector({ applications, spanMs: 1_000 }).report("p", 0)).toMatchObject({
      worst: null,
      attainment: null,
      meanOfApplications: null,
      ttftMs: null,
    });
  });

  it("tell attainment by arrival and goodput by end, also beyond the trace's end", () => {
    const collector = new Collector({ applications, spanMs: 2_000, windowMs: 1_000 });
    collector.ended(1, 500, 900, 3_500, 1_000, "done");
    collector.ended(1, 1_500, 9_000, 9_000, 1, "done");
    const { windows } = collector.report("p", 4_000);
    expect(windows.attainment).toEqual([1, 0, null, null]);
    expect(windows.goodput).toEqual([0, 0, 0, 1]);
    expect(windows.arrived).toEqual([1, 1, 0, 0]);
  });

  it("tell the parts of a day apart by arrival, also where a part comes twice", () => {
    const parts = [
      { name: "night", from: 0, to: 1_000 },
      { name: "day", from: 1_000, to: 2_000 },
      { name: "night", from: 2_000, to: 3_000 },
    ];
    const collector = new Collector({ applications, spanMs: 3_000, windowMs: 500, parts });
    collector.ended(0, 100, 110, 110, 1, "done");
    collector.ended(0, 1_100, 1_110, 1_110, 1, "done");
    collector.ended(0, 2_900, 9_110, 9_110, 1, "done");
    expect(collector.report("p", 9_200).parts).toEqual([
      { name: "night", requests: 2, onTime: 1, attainment: 0.5 },
      { name: "day", requests: 1, onTime: 1, attainment: 1 },
    ]);
  });

  it("sum the devices in use over time", () => {
    const collector = new Collector({ applications, spanMs: 4_000, windowMs: 1_000 });
    collector.devices(0, 10);
    collector.devices(1_500, 20);
    const { devices, windows } = collector.report("p", 4_000);
    expect(windows.devices).toEqual([10, 15, 20, 20]);
    expect(devices).toEqual({ hours: 65_000 / 3_600_000, mean: 16.25, most: 20, least: 10 });
  });

  it("sum loads by where the weights came from, and know the longest wait of anybody", () => {
    const collector = new Collector({ applications, spanMs: 1_000 });
    collector.loaded("fork", 5, 7);
    collector.loaded("fork", 5, 8);
    collector.loaded("disk", 100, 900);
    collector.moved();
    collector.evicted();
    collector.swapped();
    collector.ended(0, 0, 0, 5_000, 0, "timed-out", 5_000);
    collector.ended(1, 0, 30, 30, 1, "done", 20);
    const report = collector.report("p", 5_000, { events: 3 });
    expect(report.loads).toMatchObject({ fork: { count: 2, bytes: 10, ms: 15 }, disk: { count: 1, bytes: 100 } });
    expect(report).toMatchObject({ bytesMoved: 110, moves: 1, evictions: 1, swaps: 1, longestWaitMs: 5_000 });
    expect(report).toMatchObject({ makespanMs: 5_000, waitMs: { max: 20 }, run: { events: 3 } });
  });
});

describe("a histogram by size", () => {
  it("tells any quantile within 1 % of the exact one", () => {
    const values = fc.array(fc.double({ min: 0.02, max: 9e7, noNaN: true }), { minLength: 1, maxLength: 300 });
    fc.assert(
      fc.property(values, fc.double({ min: 0, max: 1, noNaN: true }), (list, share) => {
        const histogram = new LogHistogram();
        for (const value of list) histogram.add(value);
        const exact = [...list].sort((a, b) => a - b)[Math.max(1, Math.ceil(share * list.length)) - 1] ?? 0;
        expect(Math.abs(histogram.quantile(share) - exact)).toBeLessThanOrEqual(0.01 * exact);
      }),
    );
  });

  it("takes nonsense as nothing and tells the exact maximum", () => {
    const histogram = new LogHistogram();
    for (const value of [Number.NaN, -5, 0, 1e12]) histogram.add(value);
    expect(histogram.percentiles()).toMatchObject({ count: 4, max: 1e12 });
    expect(histogram.quantile(0.5)).toBeLessThanOrEqual(0.01);
  });
});

describe("what is told over time", () => {
  it("adds up to the whole, also where a window is a fraction of a millisecond", () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.1, max: 50, noNaN: true }),
        fc.double({ min: 0, max: 200, noNaN: true }),
        (windowMs, span) => {
          const collector = new Collector({ applications, spanMs: 200, windowMs });
          collector.devices(0, 3);
          const { windows, devices } = collector.report("p", span);
          expect(devices.mean).toBeCloseTo(span > 0 ? 3 : 0, 6);
          expect(windows.devices.length).toBeLessThanOrEqual(Math.floor(span / windowMs) + 2);
        },
      ),
    );
  });

  it.each([0, -1, Number.NaN])("is refused in windows of %d ms", (windowMs) => {
    expect(() => new Collector({ applications, spanMs: 1_000, windowMs })).toThrow(RangeError);
  });
});
