import { expect, it } from "vitest";
import { OrderFence } from "../src/serve/order-fence.ts";

const WALL = Date.UTC(2026, 0, 1);
const DAY_MS = 86_400_000;

const codeOf = (run: () => void) => {
  try {
    run();
    return "passed";
  } catch (error) {
    return (error as { code?: string }).code;
  }
};

it("refuses orders of an earlier holder, and lets those without a number pass", () => {
  const fence = new OrderFence();
  const sent = ["7", undefined, "7", "6", "9", "7", "9", undefined];
  expect(sent.map((header) => codeOf(() => fence.pass(header, WALL)))).toEqual([
    "passed",
    "passed",
    "passed",
    "stale_order",
    "passed",
    "stale_order",
    "passed",
    "passed",
  ]);
});

it.each(["", "0", "-1", "1.5", "seven", "1e30"])("takes %j for no number, and remembers nothing of it", (header) => {
  const fence = new OrderFence();
  expect(codeOf(() => fence.pass(header, WALL))).toBe("invalid_request");
  expect(codeOf(() => fence.pass("1", WALL))).toBe("passed");
});

it("takes a time that is far from having come for no holder's, and remembers nothing of it", () => {
  const fence = new OrderFence();
  const passes = (number: number) => codeOf(() => fence.pass(String(number), WALL));
  expect(passes(Number.MAX_SAFE_INTEGER)).toBe("invalid_request");
  expect(passes(WALL + DAY_MS + 1)).toBe("invalid_request");
  expect(passes(WALL)).toBe("passed");
  // Clocks differ, and each holder's number is above the one before.
  expect(passes(WALL + DAY_MS)).toBe("passed");
});
