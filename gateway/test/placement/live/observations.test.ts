import { describe, expect, it } from "vitest";
import { Observations, type PlacementFigures } from "../../../src/placement/live/observations.ts";
import { spansOf } from "../../../src/placement/live/spans.ts";

const WINDOW = 15_000;
const NONE: PlacementFigures = {
  bytes: null,
  input: null,
  worker: null,
  inputMs: null,
  output: null,
  outputMs: null,
  onTime: null,
};

/** Two requests a second for `m` over so many seconds, each answered on a. */
function observe(seconds: number, answer: Partial<PlacementFigures> = {}): { seen: Observations; now: number } {
  const seen = new Observations(spansOf({ window: WINDOW }));
  let now = 0;
  for (; now < seconds * 1_000; now += 500) {
    seen.asked("m", now);
    seen.ended("m", { ...NONE, worker: "a", ...answer }, now);
  }
  return { seen, now };
}

describe("what is observed of a model", () => {
  it("is how often it is asked and how long its prompts and answers are", () => {
    const { seen, now } = observe(60, { input: 100, output: 50 });
    const load = seen.of("m")?.steadyLoad(now);
    expect(load?.requestsPerSecond).toBeCloseTo(2, 0);
    expect(load).toMatchObject({ inputMean: 100, inputVariance: 0, outputMean: 50, outputVariance: 0 });
    expect(seen.of("m")?.heat(now)).toBeCloseTo(300, -2);
  });

  it("is estimated from bytes where an engine does not count, by what its others had in a token", () => {
    const { seen, now } = observe(60, { bytes: 400 });
    expect(seen.of("m")?.steadyLoad(now).inputMean).toBe(100);
    const counted = observe(60, { bytes: 400, input: 200 });
    counted.seen.ended("m", { ...NONE, bytes: 400 }, counted.now + WINDOW * 2);
    expect(counted.seen.of("m")?.loadOfLate(counted.now + WINDOW * 2).inputMean).toBeCloseTo(200, -1);
  });

  it("goes on for a while after the last request of a burst, and is over then", () => {
    const { seen, now } = observe(20);
    expect(seen.of("m")?.loadNow(now + 5_000).requestsPerSecond).toBeGreaterThan(1);
    expect(seen.of("m")?.loadNow(now + WINDOW).requestsPerSecond).toBe(0);
    expect(seen.inUse(now + WINDOW)).toEqual(["m"]);
    expect(seen.inUse(now + WINDOW * 21)).toEqual([]);
  });

  it("tells the share that was on time, of those of which that is known", () => {
    const { seen, now } = observe(10, { onTime: true });
    seen.ended("m", { ...NONE, onTime: false }, now);
    seen.ended("m", NONE, now);
    const onTime = seen.of("m")?.onTime(now);
    expect(onTime?.requests).toBe(21);
    expect(onTime?.share).toBeCloseTo(20 / 21);
  });

  it("holds how much of a worker is used, by the fastest that it was seen to be", () => {
    const { seen, now } = observe(60, { input: 100, inputMs: 100, output: 50, outputMs: 250 });
    const pair = seen.pair("a", "m");
    expect([pair?.inputRate, pair?.outputRate, pair?.answerRate].map((rate) => Math.round(rate ?? 0))).toEqual([
      1_000, 200, 200,
    ]);
    expect(pair?.shares(now).compute).toBeCloseTo(0.2, 1);
    expect(pair?.shares(now).bandwidth).toBeCloseTo(0.5, 1);
  });

  it("is forgotten with the model and with the worker", () => {
    const { seen } = observe(1, { input: 10 });
    seen.keepOnly(new Set(["m"]), new Set());
    expect([seen.keys(), seen.pair("a", "m")]).toEqual([["m"], null]);
    seen.keepOnly(new Set(), new Set());
    expect(seen.keys()).toEqual([]);
  });
});

it("a model is of today for a day after it was asked for, or after the first request of all where it was not yet", () => {
  const seen = new Observations(spansOf({ window: WINDOW }));
  const hour = 3_600_000;
  seen.asked("m", 0);
  seen.asked("m", 10 * hour);
  const isOfToday = (at: number) => ["m", "other"].map((key) => seen.isOfToday(key, at * hour));
  expect([isOfToday(23), isOfToday(25), isOfToday(35)]).toEqual([
    [true, true],
    [true, false],
    [false, false],
  ]);
});
