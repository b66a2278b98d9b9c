import { expect, it } from "vitest";
import { idleHold } from "../../../src/placement/pools/idle-hold.ts";

it("keeps an idle model for longer than it takes to come up again, whatever the rules say", () => {
  const rules = { holdMs: 30_000, reloads: 2 };
  expect(idleHold(4_000, rules)).toBe(30_000);
  expect(idleHold(40_000, rules)).toBeGreaterThan(80_000);
  expect(idleHold(40_000, { holdMs: 0, reloads: 0 })).toBeGreaterThan(40_000);
});
