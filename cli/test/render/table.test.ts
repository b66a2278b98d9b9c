import * as fc from "fast-check";
import { expect, test } from "vitest";
import { table } from "../../src/render/table.ts";

test("columns are as wide as their widest cell", () => {
  expect(
    table(
      ["A", "LONG"],
      [
        ["aaa", "x"],
        ["a", "yy"],
      ],
      80,
    ),
  ).toEqual(["A    LONG", "aaa  x", "a    yy"]);
});

test("the widest column gives way when the terminal is narrow", () => {
  expect(table(["ID", "REASON"], [["1", "a rather long reason"]], 16)).toEqual(["ID  REASON", "1   a rather lo…"]);
});

test("no line is wider than the terminal, unless all columns are at their narrowest", () => {
  const cells = fc.array(fc.array(fc.string({ maxLength: 60 }), { minLength: 4, maxLength: 4 }), { maxLength: 5 });
  fc.assert(
    fc.property(cells, fc.integer({ min: 38, max: 120 }), (rows, width) => {
      for (const line of table(["A", "B", "C", "D"], rows, width)) expect(line.length).toBeLessThanOrEqual(width);
    }),
  );
});
