import * as fc from "fast-check";
import { expect, test } from "vitest";
import { GrowingObject } from "../../../src/translate/chat/growing-object.ts";

const pieces = fc
  .tuple(fc.oneof(fc.json(), fc.string({ unit: fc.constantFrom(...'{}[]"\\ ,:1a'.split("")) })), fc.array(fc.nat(20)))
  .map(([text, sizes]) => {
    const cut: string[] = [];
    let at = 0;
    for (const size of sizes) {
      cut.push(text.slice(at, at + size));
      at += size;
    }
    return [...cut, text.slice(at)];
  });

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

test("an object is complete exactly when its text is one, after each of its pieces", () => {
  fc.assert(
    fc.property(pieces, (cut) => {
      const growing = new GrowingObject();
      for (const piece of cut) {
        growing.add(piece);
        expect(growing.isComplete).toBe(isObject(growing.text));
      }
      expect(growing.text).toBe(cut.join(""));
    }),
  );
});
