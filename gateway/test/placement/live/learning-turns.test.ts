import { describe, expect, it } from "vitest";
import { LearningTurns } from "../../../src/placement/live/learning-turns.ts";

const MODELS = Array.from({ length: 40 }, (_, i) => `m${i}`);

describe("whose turn it is to be learned from", () => {
  it("is each model's once in a window, spread over its ticks", () => {
    const turns = new LearningTurns(10_000, 0);
    const took: string[][] = [];
    for (let now = 500; now < 20_000; now += 500) took.push(turns.take(MODELS, now));
    expect(took.slice(0, 19).flat()).toEqual([]);
    expect(took.flat()).toEqual(MODELS);
    expect(Math.max(...took.map(({ length }) => length))).toBe(2);
  });

  it("makes up for time in which nobody asked, and needs no ticks shorter than its window", () => {
    const turns = new LearningTurns(10_000, 0);
    expect(turns.take(MODELS, 60_000)).toEqual(MODELS);
    expect(turns.take(["a"], 60_500)).toEqual([]);
    expect(turns.take(["a"], 80_000)).toEqual(["a"]);
    expect(turns.take([], 100_000)).toEqual([]);
  });
});
