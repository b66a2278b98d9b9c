import * as fc from "fast-check";
import { expect, it } from "vitest";
import { WindowSums } from "../../../src/placement/live/window-sums.ts";

it("sums what came within the window, to the slot", () => {
  const steps = fc.array(fc.tuple(fc.nat(400), fc.nat(9), fc.boolean()), { maxLength: 60 });
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 10 }), (added, slots) => {
      const sums = new WindowSums(2, 50, 10);
      const kept: { slot: number; value: number }[] = [];
      let now = 0;
      for (const [ms, value, isOther] of added) {
        now += ms;
        sums.add(isOther ? 1 : 0, value, now);
        if (!isOther) kept.push({ slot: Math.floor(now / 50), value });
      }
      const from = Math.floor(now / 50) - slots;
      const expected = kept.filter(({ slot }) => slot > from).reduce((sum, { value }) => sum + value, 0);
      expect(sums.sum(0, slots * 50, now)).toBe(expected);
      expect(sums.sum(0, 500, now + 100_000)).toBe(0);
    }),
  );
});
