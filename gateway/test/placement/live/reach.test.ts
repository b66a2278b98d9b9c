import { expect, it } from "vitest";
import { reaches } from "../../../src/placement/live/reach.ts";
import { farm, type Measured, observed } from "./speeds.ts";

const HOUR = 3_600_000;

function reachOf(pairs: readonly Measured[], now = 0) {
  return reaches(farm([]), observed(pairs), ["m", "x"], { targetMs: 10_000, now });
}

it("goes by the pair's own rates: a prompt that takes more than half of the target helps nobody", () => {
  const reach = reachOf([
    { worker: "fast", key: "m", rate: 1_000 },
    { worker: "slow", key: "m", rate: 100 },
  ]);
  expect(reach("fast", "m")).toEqual({ firstMs: 1_000, why: null });
  expect(reach("slow", "m")).toEqual({
    firstMs: expect.closeTo(10_000),
    why: "would take 10 s for a usual prompt of it, more than half of the target",
  });
});

it("else by how fast the worker is beside one that has the model, through models measured on both alone", () => {
  const pairs = [
    { worker: "fast", key: "m", rate: 1_000 },
    { worker: "fast", key: "x", rate: 2_000 },
    { worker: "slow", key: "x", rate: 200 },
  ];
  const reach = reachOf(pairs);
  expect(reach("slow", "m").firstMs).toBeCloseTo(10_000);
  expect(reach("slow", "m").why).toContain("10 s");
  expect(reach("new", "m")).toEqual({ firstMs: null, why: null });
});

it("and by what was on time there beside other copies, until an hour after the last request", () => {
  const pairs = [
    { worker: "fast", key: "m", rate: 1_000, onTime: 9 },
    { worker: "slow", key: "m", rate: 900, onTime: 5 },
  ];
  const why = "had 50 % of it on time in the last hour, another one 90 %";
  expect(reachOf(pairs)("slow", "m").why).toBe(why);
  expect(reachOf(pairs)("fast", "m").why).toBe(null);
  expect(reachOf(pairs, 1.2 * HOUR)("slow", "m").why).toBe(null);
  expect(reachOf([{ ...(pairs[0] as Measured), onTime: 5 }, pairs[1] as Measured])("slow", "m").why).toBe(null);
});

it("forgets rates a day after they were measured", () => {
  const pairs = [{ worker: "slow", key: "m", rate: 100 }];
  expect(reachOf(pairs, 23 * HOUR)("slow", "m").why).not.toBe(null);
  expect(reachOf(pairs, 25 * HOUR)("slow", "m")).toEqual({ firstMs: null, why: null });
});
