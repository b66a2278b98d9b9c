import { expect, it } from "vitest";
import { afterOneOf } from "../../src/admission/come-again.ts";
import { DrainRate } from "../../src/admission/drain-rate.ts";

function farmAt(now: number) {
  const clock = { now: () => now, wall: () => 0, after: () => () => {} };
  return { clock, drainRate: new DrainRate(), random: () => 0.5 };
}

it("sends nobody away for long from a quiet farm whose answers are short", () => {
  const farm = farmAt(50_000);
  farm.drainRate.ended(2_000, 80);
  farm.drainRate.ended(49_000, 120);
  expect(afterOneOf(farm, 2)).toBe(1);
});

it("counts with how long a place is held, and with how many places there are", () => {
  const farm = farmAt(50_000);
  farm.drainRate.ended(49_000, 40_000);
  expect([1, 2, 4].map((places) => afterOneOf(farm, places))).toEqual([40, 20, 10]);
});

it("says five seconds where nothing has ended", () => {
  expect(afterOneOf(farmAt(0), 2)).toBe(5);
});
