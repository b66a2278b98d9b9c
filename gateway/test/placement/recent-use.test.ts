import { describe, expect, it } from "vitest";
import { RecentUse } from "../../src/placement/recent-use.ts";

const MINUTE = 60_000;

describe("a model in recent use", () => {
  it("is one that was asked for within fifteen minutes", () => {
    const use = new RecentUse();
    use.asked("m", 0);
    use.asked("n", 5 * MINUTE);
    expect(use.inUse(14 * MINUTE)).toEqual(["m", "n"]);
    expect([use.isInUse("m", 15 * MINUTE - 1), use.isInUse("m", 15 * MINUTE)]).toEqual([true, false]);
    expect(use.inUse(15 * MINUTE)).toEqual(["n"]);
    use.asked("n", 16 * MINUTE);
    expect(use.inUse(25 * MINUTE)).toEqual(["n"]);
  });

  it("makes a new generation when it comes into use, and none when it is asked for again", () => {
    const use = new RecentUse();
    const generations = [0, 1, 2, 20].map((minute) => {
      use.asked("m", minute * MINUTE);
      return use.generation;
    });
    expect(generations).toEqual([1, 1, 1, 2]);
  });

  it("is forgotten first when it was asked for the longest ago and there are too many", () => {
    const use = new RecentUse();
    for (let i = 0; i < 1_000; i += 1) use.asked(`m${i}`, i);
    use.asked("m0", 1_000);
    use.asked("new", 1_001);
    expect(use.inUse(1_002)).toHaveLength(1_000);
    expect([use.isInUse("m0", 1_002), use.isInUse("m1", 1_002)]).toEqual([true, false]);
  });
});
