import { describe, expect, it } from "vitest";
import { z } from "zod";
import { withCrossChecks } from "../../src/config/cross-check.ts";
import { duration, httpUrl, wholeNumber } from "../../src/config/pieces.ts";

const schema = withCrossChecks(
  z.strictObject({
    names: z.array(z.strictObject({ name: z.string().min(1) })),
    low: wholeNumber(0).default(0),
    high: wholeNumber(0).default(9),
    time: duration.default(1).refine((ms) => ms > 0),
    url: httpUrl.optional(),
  }),
  [
    {
      reads: ["names"],
      check({ names }, report) {
        if (new Set(names.map(({ name }) => name)).size < names.length) report(["names"], "two of one name");
      },
    },
    {
      reads: ["low", "high"],
      check({ low, high }, report) {
        if (low > high) report(["low"], "above high");
      },
    },
  ],
);

function paths(value: unknown): string[] {
  const { error } = schema.safeParse(value);
  return (error?.issues ?? []).map(({ path }) => path.join("."));
}

const twice = [{ name: "a" }, { name: "a" }];

describe("rules between keys", () => {
  it("are kept beside the keys' own", () => {
    expect(paths({ names: [{ name: "a" }], low: 1, high: 1 })).toEqual([]);
    expect(paths({ names: twice, low: 2, high: 1 })).toEqual(["names", "low"]);
  });

  it.each([
    ["of another type", { time: [] }],
    ["that cannot be read", { time: "soon" }],
    ["out of bounds", { time: 0 }],
    ["that is no address", { url: "x" }],
    ["that is no whole number", { low: 1.5 }],
    ["that is too large", { low: 1e300 }],
    ["below its bound", { low: -1 }],
    ["unknown", { nope: 1 }],
  ])("are told beside a key %s", (_, fault) => {
    expect(paths({ names: twice, ...fault })).toHaveLength(2);
    expect(paths({ names: twice, ...fault })).toContain("names");
  });

  it("are told beside an unknown key inside of what they read", () => {
    expect(paths({ names: [...twice, { name: "b", age: 1 }] })).toEqual(["names.2", "names"]);
  });

  it("are left out while what they read is malformed", () => {
    expect(paths({ names: 7, low: 2, high: 1 })).toEqual(["names", "low"]);
    expect(paths({ names: twice, low: [], high: 1 })).toEqual(["low", "names"]);
    expect(paths({ names: [...twice, { name: 7 }] })).toEqual(["names.2.name"]);
    expect(paths({ low: 2, high: 1 })).toEqual(["names", "low"]);
  });

  it.each([7, null, "x", []])("are left out where there are no keys at all: %j", (value) => {
    expect(paths(value)).toEqual([""]);
  });
});
