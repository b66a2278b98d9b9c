import "../../../test/harness/property-seed.ts";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MooreHodgson, timeAt } from "../../src/scheduling/moore-hodgson.ts";
import { arbitraryJobs, arbitraryMachines, machine } from "./arbitrary-jobs.ts";
import { mostOnTime } from "./exact.ts";

const rule = new MooreHodgson();
const one = arbitraryMachines(1).map(([first]) => first ?? machine());

describe("the rule of Moore and Hodgson", () => {
  it("drops the longest where one would be late", () => {
    const waiting = [
      { processing: 10, deadline: 10 },
      { processing: 2, deadline: 11 },
      { processing: 3, deadline: 12 },
    ];
    expect(rule.keep(waiting, machine())).toBe(2);
    expect([...rule.kept.subarray(0, 3)]).toEqual([0, 1, 1]);
    expect(rule.first).toBe(1);
  });

  it("keeps nothing where nothing can be made", () => {
    expect(rule.keep([{ processing: 10, deadline: 9 }], machine())).toBe(0);
    expect(rule.first).toBe(-1);
    expect(rule.keep([], machine())).toBe(0);
    expect(rule.first).toBe(-1);
  });

  it("finds the most that one machine can finish in time", () => {
    const property = fc.property(arbitraryJobs(8), one, (waiting, at) => {
      expect(rule.keep(waiting, at)).toBe(mostOnTime(waiting, [at]));
    });
    fc.assert(property, { numRuns: 500 });
  });

  it("keeps only what is on time in order of due date, and counts it", () => {
    const property = fc.property(arbitraryJobs(60), one, (waiting, at) => {
      const count = rule.keep(waiting, at);
      const kept = waiting.filter((_, position) => rule.kept[position] === 1);
      expect(kept).toHaveLength(count);
      expect(waiting[rule.first]).toBe(kept[0]);
      let endsAt = at.availableAt;
      for (const job of kept) {
        endsAt += timeAt(at, job);
        expect(endsAt).toBeLessThanOrEqual(job.deadline);
      }
    });
    fc.assert(property);
  });

  it("does as if what is passed over were not there", () => {
    const property = fc.property(arbitraryJobs(20), one, fc.infiniteStream(fc.boolean()), (waiting, at, chance) => {
      const passedOver = Uint8Array.from(waiting, () => (chance.next().value ? 1 : 0));
      const count = rule.keep(waiting, at, passedOver);
      for (const position of passedOver.keys())
        expect((rule.kept[position] ?? 0) + (passedOver[position] ?? 0)).toBeLessThan(2);
      const others = waiting.filter((_, position) => passedOver[position] === 0);
      expect(rule.keep(others, at)).toBe(count);
    });
    fc.assert(property);
  });
});
