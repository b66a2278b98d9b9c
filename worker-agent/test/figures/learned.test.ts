import { describe, expect, it } from "vitest";
import { Learned } from "../../src/figures/learned.ts";

const HOUR = 3_600_000;
const NO_FIGURES = { promptTokensPerSecond: null, tokensPerSecond: null };

/** Loads `to`, done at `at`. */
function load(learned: Learned, to: string, ms: number, at: number, more: object = {}): void {
  learned.loaded({ from: null, to, ms, wasReady: false, ...more }, at);
}

describe("learned load times", () => {
  it("are means of which the newest counts most", () => {
    const learned = new Learned();
    expect(learned.loadMs("a", null, 0)).toBe(null);
    load(learned, "a", 10_000, 10_000);
    load(learned, "a", 20_000, 50_000);
    load(learned, "a", 20_000, 80_000);
    // The first one was from disk, the others from the page cache.
    expect(learned.loadMs("a", null, 80_001)).toBe(20_000);
    load(learned, "a", 30_000, 120_000);
    expect(learned.loadMs("a", null, 120_001)).toBe(23_000);
    expect(learned.loadMs("a", null, 120_001 + 2 * HOUR)).toBe(10_000);
    expect(learned.of("a").longestLoadMs).toBe(30_000);
    expect(learned.lastSwapMs).toBe(30_000);
  });

  it("are kept by what went and what came, and stand in for each other where none is known", () => {
    const learned = new Learned();
    load(learned, "a", 10_000, 10_000);
    load(learned, "b", 40_000, 60_000, { from: "a" });
    expect(learned.loadMs("b", "a", 5 * HOUR)).toBe(40_000);
    expect(learned.loadMs("b", "c", 5 * HOUR)).toBe(40_000);
    expect(learned.loadMs("b", "a", 61_000)).toBe(40_000);
    load(learned, "b", 5_000, 90_000, { from: "c" });
    expect(learned.loadMs("b", "c", 91_000)).toBe(5_000);
    expect(learned.loadMs("b", "a", 91_000)).toBe(5_000);
    expect(learned.loadMs("b", "a", 5 * HOUR)).toBe(40_000);
    expect(learned.loadMs("c", "a", 91_000)).toBe(null);
  });

  it("take a model that was loaded for hours as cached when it goes", () => {
    const learned = new Learned();
    load(learned, "a", 60_000, 60_000);
    load(learned, "b", 50_000, 9 * HOUR, { from: "a" });
    load(learned, "a", 6_000, 9 * HOUR + 10_000, { from: "b" });
    expect(learned.loadMs("a", null, 9 * HOUR + 20_000)).toBe(6_000);
    expect(learned.loadMs("a", null, 20 * HOUR)).toBe(60_000);
    learned.unloaded("a", 19.5 * HOUR);
    expect(learned.loadMs("a", null, 20 * HOUR)).toBe(6_000);
    learned.unloaded("never-loaded-here", 0);
    load(learned, "never-loaded-here", 1_000, 2_000);
    expect(learned.loadMs("never-loaded-here", null, 20 * HOUR)).toBe(1_000);
  });

  it("are not those of a model that was ready before anything was done", () => {
    const learned = new Learned();
    load(learned, "a", 60_000, 60_000);
    load(learned, "a", 10, 61_000, { wasReady: true });
    load(learned, "b", 10, 62_000, { from: "a", wasReady: true });
    expect(learned.loadMs("a", null, 5 * HOUR)).toBe(60_000);
    expect(learned.loadMs("b", "a", 63_000)).toBe(null);
    expect(learned.of("b").longestLoadMs).toBe(null);
  });

  it("know a model that was found loaded as cached", () => {
    const learned = new Learned();
    learned.found("a", 0);
    load(learned, "a", 5_000, 6_000);
    load(learned, "a", 60_000, 3 * HOUR);
    expect(learned.loadMs("a", null, 3 * HOUR + 1)).toBe(5_000);
    expect(learned.loadMs("a", null, 9 * HOUR)).toBe(60_000);
  });
});

describe("learned answers", () => {
  it("give a mean time and mean speeds by those that ended well", () => {
    const learned = new Learned();
    expect(learned.of("a")).toMatchObject({ serviceMs: null, tokensPerSecond: null, promptTokensPerSecond: null });
    learned.answered("a", { ms: 1_000, ok: true, figures: { promptTokensPerSecond: 100, tokensPerSecond: null } });
    learned.answered("a", { ms: 2_000, ok: true, figures: { promptTokensPerSecond: null, tokensPerSecond: 40 } });
    learned.answered("a", { ms: 90_000, ok: false, figures: { promptTokensPerSecond: 1, tokensPerSecond: 1 } });
    expect(learned.of("a")).toMatchObject({ serviceMs: 1_300, tokensPerSecond: 40, promptTokensPerSecond: 100 });
    expect(learned.of("b").serviceMs).toBe(null);
  });

  it("give the longest one of all, which fades with newer ones", () => {
    const learned = new Learned();
    const answer = (ms: number) => learned.answered("a", { ms, ok: false, figures: NO_FIGURES });
    expect(learned.longestAnswerMs).toBe(0);
    answer(100_000);
    answer(1_000);
    expect(learned.longestAnswerMs).toBeCloseTo(99_500);
    for (let count = 0; count < 138; count += 1) answer(1_000);
    expect(learned.longestAnswerMs).toBeGreaterThan(45_000);
    expect(learned.longestAnswerMs).toBeLessThan(55_000);
    answer(200_000);
    expect(learned.longestAnswerMs).toBe(200_000);
  });

  it("are kept of a bounded number of models, however many names come", () => {
    const learned = new Learned();
    const ended = { ms: 1_000, ok: true, figures: NO_FIGURES };
    for (let count = 0; count <= 1_000; count += 1) learned.answered(`model-${count}`, ended);
    expect(learned.of("model-0").serviceMs).toBe(null);
    expect(learned.of("model-1").serviceMs).toBe(1_000);
    expect(learned.of("model-1000").serviceMs).toBe(1_000);
  });
});

describe("what an engine tells of a model", () => {
  it("stands where a later answer does not tell it", () => {
    const learned = new Learned();
    learned.told("a", { engine: "vllm", contextLength: 8_192 });
    learned.told("a", { engine: null, contextLength: null });
    expect(learned.of("a")).toMatchObject({ engine: "vllm", contextLength: 8_192 });
    learned.told("a", { engine: null, contextLength: 4_096 });
    expect(learned.of("a")).toMatchObject({ engine: "vllm", contextLength: 4_096 });
  });
});
