import { expect, it } from "vitest";
import { OrderFence } from "../src/serve/order-fence.ts";

const MINUTE_MS = 60_000;

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
  expect(sent.map((header) => codeOf(() => fence.pass(header, 5)))).toEqual([
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
  expect(codeOf(() => fence.pass(header, 5))).toBe("invalid_request");
  expect(codeOf(() => fence.pass("1", 5))).toBe("passed");
});

it("forgets a number that no order has carried for 20 minutes, however high it was", () => {
  const fence = new OrderFence();
  const passes = (number: number, now: number) => codeOf(() => fence.pass(String(number), now));
  expect(passes(Number.MAX_SAFE_INTEGER, 0)).toBe("passed");
  expect(passes(8, 20 * MINUTE_MS - 1)).toBe("stale_order");
  // Who is refused keeps nothing in mind.
  expect(passes(8, 20 * MINUTE_MS)).toBe("passed");
  expect(passes(7, 20 * MINUTE_MS)).toBe("stale_order");
});

it("refuses those of an earlier holder for as long as the later one orders", () => {
  const fence = new OrderFence();
  const passes = (number: number, minutes: number) => codeOf(() => fence.pass(String(number), minutes * MINUTE_MS));
  expect([passes(8, 0), passes(8, 15), passes(7, 30), passes(8, 34), passes(7, 53)]).toEqual([
    "passed",
    "passed",
    "stale_order",
    "passed",
    "stale_order",
  ]);
});
