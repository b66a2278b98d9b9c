import { expect, it } from "vitest";
import { OrderFence } from "../src/serve/order-fence.ts";

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
  expect(sent.map((header) => codeOf(() => fence.pass(header)))).toEqual([
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
  expect(codeOf(() => fence.pass(header))).toBe("invalid_request");
  expect(codeOf(() => fence.pass("1"))).toBe("passed");
});
