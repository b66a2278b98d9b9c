import { describe, expect, it } from "vitest";
import { Regrets } from "../../../src/placement/live/regrets.ts";

const MINUTE = 60_000;
const PAIR = { worker: "b", key: "m" };

/** A farm whose copy of `m` on b comes and goes, and whose requests are judged. */
function world() {
  const regrets = new Regrets();
  const all = { requests: 100, onTime: 50 };
  let isThere = false;
  const look = (now: number) =>
    regrets.look({ now, windowMs: MINUTE, share: 0.95, judged: () => all, isThere: () => isThere });
  return {
    regrets,
    add: (now: number) => {
      regrets.added(PAIR, 10_000, { before: { requests: 100, share: 0.5 }, judged: { ...all } }, now);
      isThere = true;
      look(now);
    },
    go: (now: number) => {
      isThere = false;
      look(now);
    },
    serve: (requests: number, onTime: number, now: number) => {
      all.requests += requests;
      all.onTime += onTime;
      look(now);
    },
  };
}

describe("a further copy", () => {
  it("that brings nothing is not added again for 10 minutes", () => {
    const { regrets, add, serve } = world();
    add(0);
    expect(regrets.isTrying("m")).toBe(true);
    serve(40, 21, 2 * MINUTE);
    expect(regrets.isTrying("m")).toBe(false);
    expect(regrets.whyNotAgain("m", 3 * MINUTE)).toBe(
      "gets no further copy of it for 9 min: the last one left its share on time at 53 %",
    );
    expect([regrets.whyNotAgain("m", 12 * MINUTE), regrets.whyNotAgain("other", 3 * MINUTE)]).toEqual([null, null]);
  });

  it("that makes the share better than chance does is not regretted, nor one of a model that is on time", () => {
    for (const share of [0.7, 0.96]) {
      const { regrets, add, serve } = world();
      add(0);
      serve(100, 100 * share, 2 * MINUTE);
      expect(regrets.whyNotAgain("m", 2 * MINUTE)).toBe(null);
    }
  });

  it("is not being tried any more, without a verdict, once nobody has asked for it for ten loads", () => {
    const { regrets, add, serve } = world();
    add(0);
    serve(5, 0, MINUTE);
    serve(0, 0, 2 * MINUTE);
    expect(regrets.isTrying("m")).toBe(true);
    serve(0, 0, 2 * MINUTE + 40_000);
    expect([regrets.isTrying("m"), regrets.whyNotAgain("m", 3 * MINUTE)]).toEqual([false, null]);
  });

  it("is not judged before it stood for a window and served enough", () => {
    const { regrets, add, serve } = world();
    add(0);
    serve(40, 10, MINUTE / 2);
    expect(regrets.isTrying("m")).toBe(true);
    const few = world();
    few.add(0);
    few.serve(10, 0, 5 * MINUTE);
    expect(few.regrets.isTrying("m")).toBe(true);
  });

  it("that goes soon after its load is regretted, each time for twice as long, a day at most", () => {
    const { regrets, add, go } = world();
    const lengths: number[] = [];
    let now = 0;
    for (let i = 0; i < 10; i += 1) {
      add(now);
      go(now + MINUTE);
      let until = now + MINUTE;
      while (regrets.whyNotAgain("m", until) !== null) until += MINUTE;
      lengths.push((until - now) / MINUTE - 1);
      now = until;
    }
    expect(lengths).toEqual([10, 20, 40, 80, 160, 320, 640, 1_280, 1_440, 1_440]);
  });

  it("that goes long after its load is no regret", () => {
    const { regrets, add, go } = world();
    add(0);
    go(6 * MINUTE);
    expect(regrets.whyNotAgain("m", 6 * MINUTE)).toBe(null);
  });
});
