import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Drive } from "./drive.ts";
import { togetherChaos } from "./chaos.ts";

const HOUR = 3_600_000;
/** Milliseconds of real time behind the last thing that happens, in which all queues of these workloads are empty. */
const SOON = 120_000;

const jumps = fc.array(
  fc.record({
    at: fc.nat(5_000).map((at) => at + 0.000_9),
    by: fc.constantFrom(-HOUR, -HOUR, -2_000, 5_000, HOUR, 24 * HOUR),
  }),
  { minLength: 1, maxLength: 3 },
);

describe("a scheduler whose clock jumps", () => {
  it("forgets nobody and keeps nobody longer for it", () => {
    fc.assert(
      fc.property(togetherChaos, jumps, (work, by) => {
        const drive = new Drive({ ...work, jumps: by }).run();
        expect(drive.ended.size).toBe(work.arrivals.length);
        const last = Math.max(0, ...[...drive.ended.values()].map(({ at }) => at));
        expect(last).toBeLessThan(SOON);
        for (const wait of drive.waits.values()) expect(wait).toBeGreaterThan(-0.001);
      }),
      { numRuns: 150 },
    );
  });
});
