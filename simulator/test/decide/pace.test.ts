import * as fc from "fast-check";
import { expect, test } from "vitest";
import { dueAt, paceOf, tokensDue } from "../../src/decide/pace.ts";

const speeds = { promptTokensPerSecond: 1_000, tokensPerSecond: 100 };

test("the prompt is read first, then a token falls due at a time", () => {
  const pace = paceOf(50, 200, speeds, 1);
  expect(pace).toEqual({ startedAt: 50, prefillMs: 200, tokenMs: 10 });
  expect(tokensDue(pace, 5, 249)).toBe(0);
  expect(tokensDue(pace, 5, 259)).toBe(0);
  expect(tokensDue(pace, 5, 260)).toBe(1);
  expect(tokensDue(pace, 5, 285)).toBe(3);
  expect(tokensDue(pace, 5, 9_999)).toBe(5);
});

test("slow is slow in everything, and speed 0 is at once", () => {
  expect(paceOf(0, 200, speeds, 10)).toEqual({ startedAt: 0, prefillMs: 2_000, tokenMs: 100 });
  const atOnce = paceOf(0, 200, { promptTokensPerSecond: 0, tokensPerSecond: 0 }, 10);
  expect(tokensDue(atOnce, 1_000, 0)).toBe(1_000);
});

test("at the moment a token is due it is due, at any speed", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20_000 }), fc.integer({ min: 1, max: 5_000 }), (speed, count) => {
      const pace = paceOf(12_345.678, 77, { promptTokensPerSecond: 3_333, tokensPerSecond: speed }, 1);
      expect(tokensDue(pace, 10_000, dueAt(pace, count))).toBeGreaterThanOrEqual(count);
      expect(tokensDue(pace, 10_000, dueAt(pace, count) - pace.tokenMs / 2)).toBeLessThan(count);
    }),
  );
});
