import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { afterExit } from "../../src/up/restart-policy.ts";

describe("a program that ended by itself", () => {
  test("is started again after pauses that double, five times in a row", () => {
    const delays: number[] = [];
    let restarts = 0;
    for (;;) {
      const decision = afterExit(1, restarts, 100);
      if (!decision.restart) break;
      delays.push(decision.delayMs);
      restarts = decision.restarts;
    }
    expect(delays).toEqual([500, 1_000, 2_000, 4_000, 8_000]);
  });

  test("starts a new count when it had run for a minute", () => {
    expect(afterExit(null, 5, 60_000)).toEqual({ restart: true, delayMs: 500, restarts: 1 });
  });

  test("is left alone when it refuses its configuration", () => {
    expect(afterExit(2, 0, 100).restart).toBe(false);
  });

  test("is never started more than five times in a row, however its exits are mixed", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(59_999), { minLength: 6, maxLength: 20 }), (runs) => {
        let restarts = 0;
        let started = 0;
        for (const ranMs of runs) {
          const decision = afterExit(1, restarts, ranMs);
          if (!decision.restart) break;
          started += 1;
          restarts = decision.restarts;
        }
        expect(started).toBe(5);
      }),
    );
  });
});
