import { expect, it } from "vitest";
import { tellError } from "../src/log.ts";

function thrownBy(step: () => unknown): Error {
  try {
    step();
  } catch (error) {
    return error as Error;
  }
  throw new Error("nothing was thrown");
}

it("tells where a parser failed, and not what it read", () => {
  const told = JSON.stringify(tellError(thrownBy(() => JSON.parse("my secret diary"))));
  expect(told).toContain("SyntaxError");
  expect(told).toContain("told-error.test");
  expect(told).not.toContain("diary");
  expect(JSON.stringify(tellError(new TypeError("x is no function")))).toContain("x is no function");
});
