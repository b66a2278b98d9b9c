import * as fc from "fast-check";
import { expect, it } from "vitest";
import { steadily } from "../src/index.ts";

const HOUR = 3_600_000;

it("goes on at once from the last time told where its clock goes back", () => {
  let read = 0;
  const now = steadily(() => read);
  const told = [1_000, 1_000 - HOUR, 1_010 - HOUR, 1_010 + HOUR, 5].map((next) => {
    read = next;
    return now();
  });
  expect(told).toEqual([1_000, 1_000, 1_010, 1_010 + 2 * HOUR, 1_010 + 2 * HOUR]);
});

it("never goes back, and tells the same passing of time as a clock that only goes on", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -24 * HOUR, max: 24 * HOUR })), (steps) => {
      let read = 0;
      const now = steadily(() => read);
      let last = now();
      for (const step of steps) {
        read += step;
        const next = now();
        expect(next - last).toBe(Math.max(0, step));
        last = next;
      }
    }),
  );
});
