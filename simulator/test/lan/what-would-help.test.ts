import { describe, expect, it } from "vitest";
import type { LanFarm } from "../../src/lan/farm.ts";
import { replay } from "../../src/lan/replay.ts";
import { summarize } from "../../src/lan/summary.ts";
import { variations, whatWouldHelp } from "../../src/lan/what-would-help.ts";
import type { Trace } from "../../src/trace/types.ts";
import { farmOf, SETTINGS, traceOf } from "./farms.ts";

const SPEED = { promptTokensPerSecond: 2_000, tokensPerSecond: 50, slots: 4 };

function advice(farm: LanFarm, trace: Trace) {
  const before = summarize(farm, trace, replay(farm, trace, SETTINGS), SETTINGS);
  return { before, ranked: whatWouldHelp(farm, trace, before, SETTINGS) };
}

describe("what would help", () => {
  it("is memory where two models take turns in it", () => {
    const large = { ...SPEED, load: "40s" };
    const farm = farmOf([
      { name: "gpu", models: { coder: { ...large, loaded: true }, writer: large } },
      { name: "idle", models: { other: { ...SPEED, loaded: true } } },
    ]);
    const turns = Array.from({ length: 16 }, (_, i) => ({ at: i * 60_000, model: i % 2 === 0 ? "coder" : "writer" }));
    const { before, ranked } = advice(farm, traceOf(turns));
    expect(before.loads).toBe(15);
    const best = ranked.slice(0, 2).map(({ words }) => words);
    expect(best).toContain("memory for one more model on gpu");
    expect(best).toContain("a second machine like gpu");
    expect(ranked[0]?.savedMs).toBeGreaterThan(30_000);
  });

  it("is speed, slots or another machine where one model has too much to do, and never its memory", () => {
    const farm = farmOf([{ name: "mac", models: { chat: { ...SPEED, slots: 1, load: "5s", loaded: true } } }]);
    const crowd = Array.from({ length: 60 }, (_, i) => ({ at: i * 2_000, model: "chat", output: 200 }));
    const { ranked } = advice(farm, traceOf(crowd));
    const words = ranked.filter(({ savedMs }) => savedMs > 10_000).map((one) => one.words);
    const good = ["mac twice as fast", "one more slot for each model of mac", "a second machine like mac"];
    expect(words.toSorted()).toEqual(good.toSorted());
    expect(ranked.some((one) => one.words.includes("memory"))).toBe(false);
  });

  it("is the greedy queue where a farm serves in order of arrival", () => {
    const models = { coder: { ...SPEED, load: "10s", loaded: true }, writer: { ...SPEED, load: "10s" } };
    const farm = farmOf([{ name: "gpu", models, queue: { policy: "fifo" } }]);
    const mixed = Array.from({ length: 60 }, (_, i) => ({ at: i * 500, model: i % 2 === 0 ? "coder" : "writer" }));
    const { ranked } = advice(farm, traceOf(mixed));
    const settings = ranked.filter(({ kind }) => kind === "setting");
    expect(settings[0]?.words).toBe("queue.policy: greedy");
  });

  it("is tried within bounds", () => {
    const boxes = ["one", "two", "three"].map((name) => ({ name, models: { a: SPEED, b: SPEED } }));
    const farm = farmOf(boxes);
    const trace = traceOf([
      { at: 0, model: "a" },
      { at: 1, model: "b" },
    ]);
    const before = summarize(farm, trace, replay(farm, trace, SETTINGS), SETTINGS);
    const tried = variations(farm, before);
    expect(tried.length).toBeLessThanOrEqual(3 * 5 + 7);
    expect(new Set(tried.map(({ words }) => words)).size).toBe(tried.length);
  });
});
