import { describe, expect, it } from "vitest";
import { chanceOf, gamma, logNormal, normal, weibull } from "../../src/trace/draws.ts";
import { dayLevel, dayParts } from "../../src/trace/shapes/day.ts";
import { fiveBurst } from "../../src/trace/shapes/five-burst.ts";
import { replayedBy, spreadOver, thinned } from "../../src/trace/shapes/reshape.ts";
import { flatPoisson, w0, W0_DURATION_MS, W0_REQUESTS } from "../../src/trace/shapes/w0.ts";
import { w0Applications } from "../../src/trace/shapes/w0-applications.ts";
import { zipfShares } from "../../src/trace/shapes/zipf.ts";
import { perApplication, summary } from "../../src/trace/summary.ts";
import type { Trace } from "../../src/trace/types.ts";

const EIGHTH = 1 / 8;

function only(trace: Trace, place: number): Trace {
  const rows = (_: number, i: number) => trace.app[i] === place;
  const [at, input, output] = [trace.at.filter(rows), trace.input.filter(rows), trace.output.filter(rows)];
  return { applications: ["one"], at, app: new Uint16Array(at.length), input, output };
}

function isInOrder({ at }: Trace): boolean {
  return at.every((time, i) => i === 0 || time >= (at[i - 1] ?? 0));
}

describe("the published load", () => {
  it("has 603,000 requests in half an hour, of 62 applications, 80 % of them for 12 %, in seconds", () => {
    const startedAt = performance.now();
    const trace = w0();
    expect(performance.now() - startedAt).toBeLessThan(15_000);
    const shape = summary(trace);
    expect(shape?.requests).toBe(W0_REQUESTS);
    expect(trace.applications).toHaveLength(62);
    expect(shape?.headShare).toBeCloseTo(0.8, 3);
    expect(trace.at[trace.at.length - 1]).toBeLessThanOrEqual(W0_DURATION_MS);
    expect(shape?.rate).toBeCloseTo(335, 0);
    expect(isInOrder(trace)).toBe(true);
    const night = trace.at.filter((at) => at < W0_DURATION_MS / 4).length;
    const day = trace.at.filter((at) => at >= W0_DURATION_MS / 2 && at < (W0_DURATION_MS * 3) / 4).length;
    expect(night / day).toBeGreaterThan(0.28);
    expect(night / day).toBeLessThan(0.42);
  });

  it("is the same from the same seed and another from another one", () => {
    const [a, b, c] = [w0({ scale: 0.01 }), w0({ scale: 0.01 }), w0({ scale: 0.01, seed: 2 })];
    expect(b).toEqual(a);
    expect(c.at).not.toEqual(a.at);
    expect(c.applications).toEqual(a.applications);
  });

  it("keeps lengths, shares and bursts at an eighth of its requests, and no seed is much heavier than another", () => {
    const shapes = [1, 2, 3].map((seed) => summary(w0({ scale: EIGHTH, seed })));
    for (const shape of shapes) {
      expect(shape?.requests).toBe(75_375);
      expect(Math.abs((shape?.input.mean ?? 0) / (shapes[0]?.input.mean ?? 1) - 1)).toBeLessThan(0.02);
      expect(shape?.busiestOverMean).toBeGreaterThan(2);
    }
  });

  it("has bursts of seconds in each application, the more the smaller it is; the flat one has none", () => {
    const [bursty, flat] = [w0({ scale: EIGHTH }), flatPoisson({ scale: EIGHTH })];
    expect(summary(only(bursty, 10))?.gapCv).toBeGreaterThan(1.3);
    expect(Math.abs((summary(only(flat, 10))?.gapCv ?? 0) - 1)).toBeLessThan(0.1);
    expect(Math.abs((summary(flat)?.gapCv ?? 0) - 1)).toBeLessThan(0.02);
    expect(perApplication(flat)).toEqual(perApplication(bursty));
  });

  it("gives the large applications different base models, and all nine their part", () => {
    const applications = w0Applications();
    const models = applications.map(({ baseModel }) => baseModel);
    expect(new Set(models.slice(0, 7)).size).toBe(7);
    const each = Array.from({ length: 9 }, (_, model) => models.filter((one) => one === model).length);
    expect(Math.min(...each)).toBeGreaterThanOrEqual(6);
    expect(applications.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 9);
    expect(applications.every(({ share }, i) => i === 0 || share <= (applications[i - 1]?.share ?? 0))).toBe(true);
    expect(w0Applications(3).map(({ baseModel }) => baseModel)).not.toEqual(models);
  });
});

describe("a day", () => {
  it("is quiet at night, without a jump anywhere, and its parts cover it", () => {
    const levels = Array.from({ length: 2_401 }, (_, i) => dayLevel(i / 100));
    const jumps = levels.map((level, i) => Math.abs(level - (levels[i - 1] ?? level)));
    expect(Math.max(...jumps)).toBeLessThan(0.01);
    expect(dayLevel(3)).toBeLessThan(0.45 * dayLevel(12));
    const parts = dayParts(2_400);
    expect(parts.map(({ name, from, to }) => [name, from, to])).toEqual([
      ["night", 0, 800],
      ["day", 800, 2_200],
      ["night", 2_200, 2_400],
    ]);
  });
});

describe("five applications", () => {
  it("have their burst in the first one, or in as many as are asked for, for 120 s", () => {
    const trace = fiveBurst();
    const rate = (place: number, from: number, to: number) =>
      only(trace, place).at.filter((at) => at >= from && at < to).length / ((to - from) / 1_000);
    expect(rate(0, 120_000, 240_000)).toBeGreaterThan(15 * rate(0, 0, 120_000));
    expect(rate(0, 240_000, 360_000)).toBeLessThan(3);
    expect(rate(1, 120_000, 240_000)).toBeLessThan(3);
    expect([...perApplication(fiveBurst({ bursting: 2 }))]).toEqual([5_280, 5_280, 720, 720, 720]);
  });
});

describe("a trace of one application", () => {
  const one: Trace = only(fiveBurst(), 0);
  const shares = zipfShares(4, 1).map((share, i) => ({ name: `a${i}`, share }));

  it("spread over many keeps its times and lengths and gives each its share", () => {
    const spread = spreadOver(one, shares, 5);
    expect(spread.at).toEqual(one.at);
    const counts = perApplication(spread);
    for (const [i, { share }] of shares.entries()) {
      expect(Math.abs((counts[i] ?? 0) / one.at.length - share)).toBeLessThan(0.02);
    }
    expect(spreadOver(one, shares, 5)).toEqual(spread);
  });

  it("replayed by many gives each its share of so many plays, with its bursts whole and at its own time", () => {
    const replayed = replayedBy(one, shares, 10, 5);
    expect(isInOrder(replayed)).toBe(true);
    const counts = perApplication(replayed);
    for (const [i, { share }] of shares.entries()) {
      expect(Math.abs((counts[i] ?? 0) / (10 * one.at.length) - share)).toBeLessThan(0.02);
    }
    expect(summary(replayed)?.busiestOverMean).toBeLessThan(summary(one)?.busiestOverMean ?? 0);
  });

  it("thinned has lower rates and the same shape", () => {
    const thin = thinned(one, EIGHTH, 5);
    expect(Math.abs(thin.at.length / one.at.length - EIGHTH)).toBeLessThan(0.02);
    expect(Math.abs((summary(thin)?.input.mean ?? 0) / (summary(one)?.input.mean ?? 1) - 1)).toBeLessThan(0.1);
  });
});

describe("what is drawn", () => {
  const random = chanceOf(1, 1);
  const many = (draw: () => number) => Array.from({ length: 40_000 }, draw);
  const mean = (list: number[]) => list.reduce((sum, value) => sum + value, 0) / list.length;
  const variance = (list: number[], around: number) => mean(list.map((value) => (value - around) ** 2));

  it.each([
    { name: "normal", draw: () => normal(random), at: 0, spread: 1 },
    { name: "gamma of 3", draw: () => gamma(random, 3), at: 3, spread: 3 },
    { name: "gamma of 0.2", draw: () => gamma(random, 0.2), at: 0.2, spread: 0.2 },
    { name: "Weibull of 2", draw: () => weibull(random, 2), at: 0.8862, spread: 0.2146 },
  ])("$name has its mean and variance", ({ draw, at, spread }) => {
    const drawn = many(draw);
    expect(Math.abs(mean(drawn) - at)).toBeLessThan(0.03);
    expect(Math.abs(variance(drawn, at) / spread - 1)).toBeLessThan(0.08);
  });

  it("as lengths are whole and within their limits", () => {
    const lengths = many(() => logNormal(random, { median: 600, sigma: 2, most: 5_000 }));
    expect(lengths.every((length) => Number.isInteger(length) && length >= 1 && length <= 5_000)).toBe(true);
    expect(Math.abs((lengths.sort((a, b) => a - b)[20_000] ?? 0) / 600 - 1)).toBeLessThan(0.05);
  });
});
