import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { failsOften, type Outcome, withOutcome } from "../../src/routing/fault-rate.ts";

/** Outcomes, failed (f) or good (g), so many milliseconds apart. */
function outcomes(text: string, everyMs: number): readonly Outcome[] {
  return text
    .split("")
    .reduce<readonly Outcome[]>((last, one, i) => withOutcome(last, { at: i * everyMs, failed: one === "f" }), []);
}

describe("how often a pair fails", () => {
  it.each([
    ["fgfgfgfgf", 100, null],
    ["fgfgfgfgfg", 100, { failed: 5, of: 10 }],
    ["fgfgfgfgfgf", 100, { failed: 6, of: 11 }],
    ["fggfggfggfgg", 100, null],
    // Only the last minute counts,
    ["fgfgfgfgfgfgfgfgfg", 7_000, null],
    // and only the last twenty of a busy pair.
    [`${"g".repeat(5)}${"fg".repeat(10)}`, 10, { failed: 10, of: 20 }],
    [`${"f".repeat(20)}${"g".repeat(11)}`, 10, null],
    ["gggggggggg", 100, null],
  ])("of %s, one each %d ms, is %o", (text, everyMs, often) => {
    expect(failsOften(outcomes(text, everyMs))).toEqual(often);
  });

  it("takes nothing while all is well, and never more than twenty outcomes of one minute", () => {
    expect(outcomes("ggggg", 1)).toEqual([]);
    expect(outcomes(`f${"g".repeat(30)}`, 1)).toEqual([]);
    const step = fc.record({ wait: fc.nat(20_000), failed: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let at = 0;
        let kept: readonly Outcome[] = [];
        const all: Outcome[] = [];
        for (const { wait, failed } of steps) {
          at += wait;
          all.push({ at, failed });
          kept = withOutcome(kept, { at, failed });
          const counting = all.slice(-20).filter((one) => one.at > at - 60_000);
          const failures = counting.filter((one) => one.failed).length;
          const often = failsOften(kept);
          // What came before the first failure that counts is not remembered: it could only make a pair look better.
          const wrong = often !== null && (often.failed !== failures || counting.length < 10);
          expect(wrong).toBe(false);
          expect(kept.length).toBeLessThanOrEqual(20);
        }
      }),
    );
  });
});
