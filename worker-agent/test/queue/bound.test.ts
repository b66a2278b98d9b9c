import { formatDuration, seededRandom } from "@farmgate/shared";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { waitBound } from "../../src/queue/bound.ts";
import { Drive } from "./drive.ts";
import { rulesFor } from "./workload.ts";
import { steadyWorkload, worstAgainstBound } from "./workloads.ts";

describe("the bound on waiting", () => {
  it("holds for any workload of one caller", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 31 }), (seed) => {
        const { ratio } = worstAgainstBound(steadyWorkload(seededRandom(seed)));
        expect(ratio).toBeLessThanOrEqual(1);
      }),
      { numRuns: 400 },
    );
  });

  it.each([false, true])("holds for models of which some fit together, with several callers: %s", (mixed) => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 31 }), (seed) => {
        const { ratio } = worstAgainstBound(steadyWorkload(seededRandom(seed), { mixed, together: true }));
        expect(ratio).toBeLessThanOrEqual(1);
      }),
      { numRuns: 200 },
    );
  });

  it("is 22 minutes for three models of 180 s at default settings and answers of a minute", () => {
    const at = { longestLoad: 180_000, longestAnswer: 60_000, models: 3, place: 1 };
    expect(waitBound(rulesFor({ a: 4, b: 4, c: 4 }), at)).toBe(22 * 60_000);
  });

  it("counts answers that are longer than maxWait", () => {
    // Job 3 finds both slots of its own model busy; before one is free twice, the turn closes for b.
    const rules = rulesFor({ a: 2, b: 3 }, { maxBatch: 5, maxWait: 1_000 });
    const a = (id: string, at: number, answerMs: number) => ({ id, at, model: "a", answerMs });
    const arrivals = [
      a("0", 0, 35_272),
      a("1", 6_000, 60_000),
      a("2", 12_000, 60_000),
      a("3", 18_000, 60_000),
      { id: "7", at: 42_000, model: "b", answerMs: 30_077 },
      { id: "8", at: 48_000, model: "b", answerMs: 60_000 },
    ];
    const work = { rules, loadMs: (model: string) => (model === "a" ? 50 : 2_000), arrivals };
    const { wait, bound } = worstAgainstBound(work);
    expect(wait).toBeGreaterThan(1_000 + 2 * (2_000 + 62_000));
    expect(wait).toBeLessThanOrEqual(bound);
  });

  it("grows with the place in the queue and with the number of models", () => {
    const rules = rulesFor({ a: 1 });
    const at = { longestLoad: 10_000, longestAnswer: 20_000, models: 2, place: 1 };
    expect(waitBound(rules, { ...at, place: 10 })).toBeGreaterThan(waitBound(rules, at));
    expect(waitBound(rules, { ...at, models: 5 })).toBeGreaterThan(waitBound(rules, at));
  });
});

describe("loads longer than maxWait", () => {
  it("do not make models chase each other: an hour of three models with default settings", () => {
    const random = seededRandom(7);
    const hour = 3_600_000;
    const arrivals = Array.from({ length: 840 }, (_, index) => ({
      id: String(index),
      at: Math.floor(random() * hour),
      model: ["a", "b", "c"].at(Math.floor(random() * 3)) as string,
      answerMs: 2_000 + Math.floor(random() * 8_000),
    })).sort((x, y) => x.at - y.at);
    const rules = rulesFor({ a: 4, b: 4, c: 4 }, { maxDepth: 1_000 });
    const { drive, ratio } = worstAgainstBound({ rules, loadMs: 90_000, arrivals });
    const inTime = [...drive.grantedAt.values()].filter((at) => at <= hour).length;
    const longest = drive.longestWait();
    console.log(
      `an hour, three models, 90 s loads: ${inTime} of ${arrivals.length} jobs granted in it, ${drive.swaps.length} loads,`,
      `longest wait ${formatDuration(longest)}, at worst ${ratio.toFixed(2)} of the bound`,
    );
    expect(inTime).toBeGreaterThan(700);
    expect(drive.swaps.length).toBeLessThan(35);
    expect(drive.servedPerLoad.every((served) => served >= 1)).toBe(true);
    expect(ratio).toBeLessThanOrEqual(1);
    expect(longest).toBeLessThan(15 * 60_000);
  });
});

describe("an endless stream for one model", () => {
  it("lets the one request for another through after maxWait, at the cost of two swaps", () => {
    const stream = Array.from({ length: 600 }, (_, index) => ({
      id: `a${index}`,
      at: index * 1_000,
      model: "a",
      answerMs: 1_000,
    }));
    const arrivals = [...stream, { id: "b", at: 30_500, model: "b", answerMs: 1_000 }];
    const drive = new Drive({ rules: rulesFor({ a: 1, b: 1 }), found: "a", loadMs: 5_000, arrivals }).run();
    expect(drive.swaps).toEqual(["b", "a"]);
    expect(drive.waits.get("b")).toBeGreaterThanOrEqual(60_000);
    expect(drive.waits.get("b")).toBeLessThanOrEqual(60_000 + 5_000 + 1_000);
  });

  it("does so for the mixed order A B A A C A B C beside it", () => {
    const stream = Array.from({ length: 300 }, (_, index) => ({
      id: `s${index}`,
      at: index * 1_000,
      model: "a",
      answerMs: 1_000,
    }));
    const mixed = ["a", "b", "a", "a", "c", "a", "b", "c"].map((model, index) => ({
      id: `m${index}`,
      at: 10_000 + index,
      model,
    }));
    const rules = rulesFor({ a: 1, b: 1, c: 1 });
    const drive = new Drive({ rules, found: "a", loadMs: 2_000, arrivals: [...stream, ...mixed] }).run();
    expect(drive.swaps.slice(0, 2)).toEqual(["b", "c"]);
    expect(drive.waits.get("m4")).toBeLessThan(70_000);
    expect(drive.swaps.length).toBeLessThanOrEqual(4);
  });
});

describe("two models asked for in alternation", () => {
  it("never swap without having served", () => {
    const arrivals = Array.from({ length: 600 }, (_, index) => ({
      id: String(index),
      at: index * 100,
      model: index % 2 === 0 ? "a" : "b",
      answerMs: 50,
    }));
    const drive = new Drive({ rules: rulesFor({ a: 1, b: 1 }), loadMs: 2_000, arrivals }).run();
    expect(drive.servedPerLoad.every((served) => served >= 1)).toBe(true);
    expect(drive.swaps.length).toBeLessThan(30);
  });
});
