import { seededRandom } from "@farmgate/shared";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Promises } from "../../src/figures/promises.ts";
import { predictedWaits } from "../../src/queue/forecast.ts";
import { type Longest, termsOf } from "../../src/queue/promise.ts";
import { Drive } from "./drive.ts";
import { atOnce, rulesFor, type Workload } from "./workload.ts";
import { steadyWorkload } from "./workloads.ts";

/** What the world of a workload does at worst. */
function longestOf({ loadMs, arrivals }: Workload): Longest {
  return {
    loadMs: (model) => (typeof loadMs === "number" ? loadMs : loadMs(model)),
    answerMs: Math.max(...arrivals.map(({ answerMs }) => answerMs ?? 100)),
  };
}

/** Runs the workload with looks at its queue at these times; each job's earliest promised end is kept. */
function promisedEnds(work: Workload, looks: readonly number[]) {
  const drive = new Drive(work);
  const promises = new Promises();
  const terms = termsOf(work.rules, longestOf(work));
  const ends = new Map<string, number>();
  for (const at of looks) {
    drive.at(at, () => {
      const { now, scheduler } = drive;
      const jobs = scheduler.waiting(now, 1_000);
      const rests = promises.rest(jobs, scheduler.view(now), terms, now);
      for (const [index, { id }] of jobs.entries()) {
        const end = now + (rests[index] ?? Number.NaN);
        ends.set(id, Math.min(end, ends.get(id) ?? Number.POSITIVE_INFINITY));
      }
    });
  }
  return { drive: drive.run(), ends };
}

describe("what a waiting job is promised", () => {
  it.each([
    ["one at a time", false],
    ["together in part", true],
  ])("is kept, whenever it is asked for, by models that are loaded %s", (_how, together) => {
    let told = 0;
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 31 }), (seed) => {
        const random = seededRandom(seed);
        const work = steadyWorkload(random, { mixed: false, together });
        const last = Math.max(...work.arrivals.map(({ at }) => at));
        const looks = Array.from({ length: 40 }, () => Math.floor(random() * (last * 2 + 600_000)));
        const atArrival = work.arrivals.filter(() => random() < 0.2).map(({ at }) => at);
        const { drive, ends } = promisedEnds(
          work,
          [...looks, ...atArrival].sort((a, b) => a - b),
        );
        for (const [id, end] of ends) expect(drive.grantedAt.get(id)).toBeLessThanOrEqual(end);
        told += ends.size;
      }),
      // A loaded model's turn had its grants, and closed an answer after it was asked for.
      { numRuns: 120, examples: [[1_939_660_726]] },
    );
    expect(told).toBeGreaterThan(500);
  });
});

describe("a forecast", () => {
  it("comes true where answers and loads take their mean and nobody else comes", () => {
    const rules = rulesFor({ a: 2, b: 1 });
    const arrivals = atOnce(0, ["a", "a", "a", "a", "a", "a"], 6_000);
    const asked = { at: 1, id: "b", model: "b", answerMs: 6_000 };
    const drive = new Drive({ rules, found: "a", loadMs: 20_000, arrivals: [...arrivals, asked] });
    const predicted: (number | null | undefined)[] = [];
    drive.at(1, () => {
      const costs = { serviceMs: () => 6_000, loadMs: () => 20_000 };
      predicted.push(predictedWaits(drive.scheduler.view(1), rules, costs).get("b"));
    });
    drive.run();
    // Asked after b came to wait itself: it is behind that one answer.
    expect(predicted).toEqual([18_000 + 20_000 + 6_000]);
    expect(drive.waits.get("b")).toBe(18_000 + 20_000 - 1);
  });
});
