import * as fc from "fast-check";
import { expect, it } from "vitest";
import { BodyBytes } from "../../src/body/body-bytes.ts";
import { cut, cuts } from "./in-pieces.ts";

it("gives any range of its bytes, in pieces that are not copied", () => {
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
  fc.assert(
    fc.property(fc.nat(300), fc.nat(300), cuts, (start, end, sizes) => {
      const pieces = cut(bytes, sizes);
      const body = new BodyBytes(pieces);
      const range = body.range(start, end);
      expect(Buffer.concat(range)).toEqual(bytes.subarray(start, Math.max(start, end)));
      expect(range.every(({ buffer }) => pieces.some((piece) => piece.buffer === buffer))).toBe(true);
      expect(range.every(({ length }) => length > 0)).toBe(true);
      expect(body.length).toBe(256);
      expect(body.joined()).toEqual(bytes);
    }),
  );
});

it("does not copy a single piece", () => {
  const piece = Buffer.from("all");
  expect(new BodyBytes([piece]).joined()).toBe(piece);
  expect(new BodyBytes([]).joined()).toHaveLength(0);
});
