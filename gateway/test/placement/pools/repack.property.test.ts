import * as fc from "fast-check";
import { expect, it } from "vitest";
import { range } from "../../../src/placement/pools/bin-space.ts";
import { fleetOf, itemOf } from "../../../src/placement/pools/fleet.ts";
import { potentialOf } from "../../../src/placement/pools/potential.ts";
import { balanceOf, repackAll } from "../../../src/placement/pools/repack.ts";
import { DEFAULT_POOL_RULES } from "../../../src/placement/pools/rules.ts";
import { bin, model, replica } from "./world.ts";

const anyStable = fc.record({
  memory: fc.integer({ min: 5, max: 70 }),
  compute: fc.integer({ min: 1, max: 70 }),
  bandwidth: fc.integer({ min: 1, max: 70 }),
  at: fc.nat(11),
});

it("a repack that is accepted lowers the potential, by what it says, and each move has room beside all that is there", () => {
  const weights = DEFAULT_POOL_RULES.potential;
  fc.assert(
    fc.property(fc.array(anyStable, { minLength: 2, maxLength: 12 }), (given) => {
      const bins = Array.from({ length: 12 }, (_, n) => bin(`b${n}`, { maxModels: 3 }));
      const models = given.map(({ memory, compute, bandwidth }, n) =>
        model(`m${n}`, [memory, compute / 100, bandwidth / 100]),
      );
      const replicas = given.map(({ at }, n) => replica(`r${n}`, `m${n}`, [`b${at}`]));
      const fleet = fleetOf({ now: 0, bins, models, replicas }, new Map());
      const { space, placed } = fleet;
      const movables = placed.map((each) => ({ placed: each, item: itemOf(fleet, each.line) }));
      const repack = repackAll({ space, meanwhile: space }, movables, weights);
      if (repack === null) return;
      const after = space.copy();
      const meanwhile = space.copy();
      let bytes = 0;
      for (const { movable, to } of repack.moves) {
        const { demand, span } = movable.item;
        expect(meanwhile.fits(to, demand, span)).toBe(true);
        meanwhile.put(range(to, span), demand, span);
        after.put(movable.placed.bins, demand, span, -1);
        bytes += demand.memory;
      }
      for (const { movable, to } of repack.moves) after.putStable(to, movable.item.demand, movable.item.span);
      expect(repack.before).toBeCloseTo(potentialOf(space, 0, weights), 6);
      expect(potentialOf(after, bytes, weights)).toBeCloseTo(repack.after, 6);
      expect(repack.after).toBeLessThan(repack.before);
    }),
    { numRuns: 120 },
  );
});

it("the balance of a bin is its least load by its greatest: 0.2 / 0.5", () => {
  const models = [model("a", [30, 0.5, 0.2])];
  const { space } = fleetOf(
    { now: 0, bins: [bin("x"), bin("y")], models, replicas: [replica("r", "a", ["x"])] },
    new Map(),
  );
  expect(balanceOf(space, 0)).toBeCloseTo(0.4);
  expect(balanceOf(space, 1)).toBe(1);
});
