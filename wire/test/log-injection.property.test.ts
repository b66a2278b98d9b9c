import { array, assert, constantFrom, oneof, property, record, string } from "fast-check";
import pino from "pino";
import { describe, expect, it } from "vitest";
import { withoutControl } from "../src/log.ts";
import { readableLine } from "../src/readable-line.ts";

const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
const HALVES = /\p{Cs}|\ufffd/gu;
const NASTY = [
  "\n",
  "\r\n",
  "\u001b[2J",
  "\u001b]0;x\u0007",
  '"',
  "\\",
  "\u009b31m",
  "\u2028",
  "\u202e",
  "\u0000",
  '"}\n{"level":"error"',
  "x".repeat(5_000),
];
const text = oneof(
  string({ unit: "binary" }),
  constantFrom(...NASTY),
  array(constantFrom(...NASTY)).map((parts) => parts.join("a")),
);
const entry = record({
  msg: text,
  model: text,
  request_id: text,
  path: text,
  caller: text,
  worker: text,
  names: array(text),
  deep: record({ a: text }),
});

describe("what callers and workers chose, in the log", () => {
  it("is one line of JSON that means the same and moves no terminal", () => {
    assert(
      property(entry, (fields) => {
        const lines: string[] = [];
        pino({ base: null }, { write: (line) => lines.push(withoutControl(line)) }).info(fields, fields.msg);
        const [line = ""] = lines;
        expect(lines).toHaveLength(1);
        expect(line.indexOf("\n")).toBe(line.length - 1);
        expect(line).not.toMatch(CONTROL);
        const told = JSON.parse(line) as typeof fields;
        // Of halves of surrogate pairs pino makes something else.
        expect(told.model.replace(HALVES, "")).toBe(fields.model.replace(HALVES, ""));
      }),
    );
  });

  it("is one line on a terminal, and moves nothing there", () => {
    assert(
      property(entry, (fields) => {
        const line = readableLine({ level: "info", ...fields });
        expect(line).not.toContain("\n");
        expect(line).not.toMatch(CONTROL);
      }),
    );
  });

  it("has more lines for the last words of a script alone, and these stand indented", () => {
    assert(
      property(text, text, (tail, model) => {
        const [first = "", ...rest] = readableLine({ msg: "loading failed", model, tail }).split("\n");
        expect(first).toMatch(/^loading failed/);
        for (const line of rest) expect(line).toMatch(/^ {4}/);
        expect([first, ...rest].join("")).not.toMatch(CONTROL);
      }),
    );
  });
});
