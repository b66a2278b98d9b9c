import * as fc from "fast-check";
import { expect, it } from "vitest";
import { replaceModel } from "../../src/body/scanned-body.ts";
import { bodyOf, cuts, mustFind, scanForm } from "./in-pieces.ts";

/** Few letters, so that what looks like a boundary comes often. */
const boundary = fc.string({ unit: fc.constantFrom("-", "a", "b"), minLength: 1, maxLength: 4 });
const soup = fc.string({ unit: fc.constantFrom("\r", "\n", "-", "a", "b", " ", "\r\n", "\r\n--"), maxLength: 40 });
const value = fc.oneof(
  soup,
  fc.uint8Array({ maxLength: 600 }).map((bytes) => Buffer.from(bytes).toString("latin1")),
);
const part = fc.record({ name: fc.constantFrom("file", "prompt", "language", "models"), value });
const name = fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 40 });

/** A value must not hold the line of a boundary, nor begin as if it were one. */
function fits(text: string, mark: string): boolean {
  return !new RegExp(`\r\n--${mark}([ \t]*\r\n|--)`).test(`\r\n${text}\r\n`);
}

function write(parts: readonly { name: string; value: string }[], mark: string, preamble: string): Buffer {
  const lines = parts.map(
    (each) => `--${mark}\r\nContent-Disposition: form-data; name="${each.name}"\r\n\r\n${each.value}\r\n`,
  );
  return Buffer.from(`${preamble}${lines.join("")}--${mark}--`, "latin1");
}

it("finds the model among any parts, cut anywhere, and replaces nothing but it", () => {
  const parts = fc.array(part, { maxLength: 4 });
  fc.assert(
    fc.property(
      boundary,
      parts,
      parts,
      name,
      name,
      fc.boolean(),
      cuts,
      (mark, before, after, named, other, lead, sizes) => {
        fc.pre([...before, ...after, { value: named }].every((each) => fits(each.value, mark)));
        const preamble = lead ? "preamble\r\n" : "";
        const form = (model: string) => write([...before, { name: "model", value: model }, ...after], mark, preamble);
        const bytes = form(named);
        const found = mustFind(scanForm(bytes, mark, sizes));
        expect(found.model).toBe(named);
        expect(replaceModel(bodyOf(bytes, sizes), found, other).joined()).toEqual(form(other));
      },
    ),
    { numRuns: 1_000 },
  );
});

it("puts a model into any form without one, which then has it", () => {
  fc.assert(
    fc.property(
      boundary,
      fc.array(part, { maxLength: 4 }),
      name,
      fc.boolean(),
      cuts,
      (mark, parts, named, lead, sizes) => {
        fc.pre([...parts, { value: named }].every((each) => fits(each.value, mark)));
        const bytes = write(parts, mark, lead ? "preamble\r\n" : "");
        const found = mustFind(scanForm(bytes, mark, sizes));
        expect(found.model).toBeNull();
        const written = replaceModel(bodyOf(bytes, sizes), found, named).joined();
        expect(mustFind(scanForm(written, mark, sizes)).model).toBe(named);
      },
    ),
  );
});

/** The same form read slowly, as one text; null: refused. */
function readSlowly(text: string, mark: string): { models: string[] } | null {
  const line = new RegExp(`\r\n--${mark}(--|[ \t]{0,100}\r\n)`, "g");
  const whole = `\r\n${text}`;
  const models: string[] = [];
  let reads: { from: number; isModel: boolean } | null = null;
  for (let found = line.exec(whole); found !== null; found = line.exec(whole)) {
    if (reads !== null && found.index < reads.from) return null;
    if (reads?.isModel === true) models.push(whole.slice(reads.from, found.index));
    if (found[1] === "--") return { models };
    const end = whole.indexOf("\r\n\r\n", line.lastIndex - 2);
    if (end < 0) return null;
    const head = whole.slice(line.lastIndex, Math.max(line.lastIndex, end));
    const disposition = /^Content-Disposition: form-data; name="([^"\r\n]*)"$/.exec(head);
    if (head !== "" && disposition === null) return null;
    reads = { from: end + 4, isModel: disposition?.[1] === "model" };
    line.lastIndex = end + 2;
  }
  return null;
}

it("agrees with a slow reading on forms in which bytes were changed", () => {
  const parts = fc.array(fc.record({ name: fc.constantFrom("file", "model"), value: soup }), { maxLength: 3 });
  const edit = fc.record({ at: fc.nat(), drop: fc.nat(2), put: soup });
  fc.assert(
    fc.property(boundary, parts, fc.array(edit, { maxLength: 2 }), cuts, (mark, all, edits, sizes) => {
      let text = write(all, mark, "").toString("latin1");
      for (const { at, drop, put } of edits) {
        const place = at % (text.length + 1);
        text = text.slice(0, place) + put + text.slice(place + drop);
      }
      const slow = readSlowly(text, mark);
      const scan = scanForm(Buffer.from(text, "latin1"), mark, sizes);
      const found = scan.ok ? scan.model : "refused";
      const [model = null, second] = slow?.models ?? [];
      const isGood = second === undefined && model !== "";
      // The slow reading refuses more kinds of heads.
      expect(found).toBe(slow === null ? found : isGood ? model : "refused");
    }),
    { numRuns: 2_000 },
  );
});
