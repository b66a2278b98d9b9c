import * as fc from "fast-check";
import { expect, test } from "vitest";
import { wrap } from "../../src/render/wrap.ts";

test("breaks at spaces, and leaves a long word whole", () => {
  expect(wrap("one two three", 7)).toEqual(["one two", "three"]);
  expect(wrap("a averylongword b", 5)).toEqual(["a", "averylongword", "b"]);
});

test("loses no word, and no line with several words is too wide", () => {
  const words = fc.array(fc.stringMatching(/^[a-z]{1,12}$/), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(words, fc.integer({ min: 5, max: 40 }), (list, width) => {
      const lines = wrap(list.join(" "), width);
      expect(lines.join(" ")).toBe(list.join(" "));
      expect(lines.filter((line) => line.includes(" ") && line.length > width)).toEqual([]);
    }),
  );
});
