import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { togetherChaos } from "./chaos.ts";
import { Drive } from "./drive.ts";

const outcome = (drive: Drive) => ({
  granted: [...drive.grantedAt],
  swaps: drive.swaps,
  unloads: drive.unloads,
  ended: [...drive.ended],
});

describe("whatever happens to models that fit together", () => {
  it("every job ends once, one operation runs at a time, none under an answer, on a pinned model or beyond the budget", () => {
    fc.assert(
      fc.property(togetherChaos, (work) => {
        const drive = new Drive(work).run();
        expect(drive.ended.size).toBe(work.arrivals.length);
      }),
      { numRuns: 600 },
    );
  });

  it("no moment is missed for want of a wake: ticks that nobody asked for change nothing", () => {
    fc.assert(
      fc.property(togetherChaos, fc.constantFrom(1, 7, 50), (work, extraTickMs) => {
        const exact = { ...work, tickLateMs: 0 };
        expect(outcome(new Drive({ ...exact, extraTickMs }).run())).toEqual(outcome(new Drive(exact).run()));
      }),
      { numRuns: 300 },
    );
  });
});
