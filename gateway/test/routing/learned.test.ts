import { describe, expect, it } from "vitest";
import { Learned } from "../../src/routing/learned.ts";

const warm = (ms: number, firstByteMs = ms, streamed = false) => ({
  found: "warm" as const,
  streamed,
  firstByteMs,
  ms,
});
const cold = (firstByteMs: number, streamed = false) => ({
  found: "cold" as const,
  streamed,
  firstByteMs,
  ms: firstByteMs + 1,
});

describe("what answers teach", () => {
  it("is nothing before the first", () => {
    expect(new Learned().of("a", "m")).toBeUndefined();
  });

  it("is a mean in which newer times count more, for each worker and model", () => {
    const learned = new Learned();
    learned.answered("a", "m", warm(1_000));
    learned.answered("a", "m", warm(2_000));
    learned.answered("b", "m", warm(50));
    expect(learned.of("a", "m")).toMatchObject({ serviceMs: 1_300, loadMs: null });
    expect(learned.of("b", "m")).toMatchObject({ serviceMs: 50 });
    expect(learned.of("a", "n")).toBeUndefined();
  });

  it("of a load is what its first byte took longer than a warm one, streams beside streams", () => {
    const learned = new Learned();
    learned.answered("a", "m", warm(5_000));
    learned.answered("a", "m", cold(25_000));
    expect(learned.of("a", "m")?.loadMs).toBe(20_000);
    learned.answered("b", "m", warm(5_000, 200, true));
    learned.answered("b", "m", cold(25_200, true));
    expect(learned.of("b", "m")?.loadMs).toBe(25_000);
  });

  it("of a load is all of it while nothing warm is known", () => {
    const learned = new Learned();
    learned.answered("a", "m", cold(25_000));
    expect(learned.of("a", "m")).toMatchObject({ loadMs: 25_000, serviceMs: null });
  });

  it("is no load where the first byte came as soon as usual: it was loaded after all", () => {
    const learned = new Learned();
    learned.answered("a", "m", warm(5_000));
    learned.answered("a", "m", cold(4_000));
    expect(learned.of("a", "m")?.loadMs).toBeNull();
  });

  it("keeps to a number of models, and forgets workers that are gone", () => {
    const learned = new Learned();
    for (let i = 0; i <= 2_000; i += 1) learned.answered("a", `m${i}`, warm(1));
    expect([learned.of("a", "m0"), learned.of("a", "m1")?.serviceMs]).toEqual([undefined, 1]);
    learned.answered("b", "m1", warm(1));
    learned.keepOnly(new Set(["b"]));
    expect([learned.of("a", "m1"), learned.of("b", "m1")?.serviceMs]).toEqual([undefined, 1]);
  });
});
