import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type DrainBook, NO_NOTES, noteOf, withNote } from "../../src/together/drain-book.ts";
import type { DrainNote } from "../../src/together/news.ts";

const note = fc.record({
  worker: fc.constantFrom("a", "b"),
  draining: fc.boolean(),
  at: fc.nat(4),
}) as fc.Arbitrary<DrainNote>;

const bookOf = (notes: readonly DrainNote[]): DrainBook => notes.reduce(withNote, NO_NOTES);

describe("what operators said of workers", () => {
  it("comes to the same at every gateway, in whatever order and however often it is told", () => {
    fc.assert(
      fc.property(fc.array(note), fc.array(note), (notes, more) => {
        const [one, other] = [bookOf([...notes, ...more]), bookOf([...more, ...notes.toReversed(), ...more])];
        expect(new Map(other)).toEqual(new Map(one));
      }),
    );
  });

  it("is the last word, though the clock of the gateway that it is given to is behind", () => {
    fc.assert(
      fc.property(fc.array(note), fc.boolean(), fc.nat(4), (notes, draining, wall) => {
        const before = bookOf(notes);
        const last = noteOf(before, "a", draining, wall);
        expect(withNote(before, last).get("a")).toEqual(last);
        expect(bookOf([last, ...notes]).get("a")).toEqual(last);
      }),
    );
  });
});
