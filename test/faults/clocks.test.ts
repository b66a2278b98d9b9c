import { expect, it } from "vitest";
import { clockFaults } from "./clocks/clock-jumps.ts";

it.each([1, 2])("no decider locks anything out for longer because its clock jumped (seed %i)", (seed) => {
  expect(clockFaults(seed).broken).toEqual([]);
});
