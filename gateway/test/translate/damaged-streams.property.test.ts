import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { damaged, inPieces, pieceSizes } from "../../../test/harness/damaged.ts";
import { type EventReader, readEvents, readLines } from "../../src/translate/read-events.ts";
import { TranslationError, type WorkerEvent } from "../../src/translate/translation.ts";

function readIn(make: (on: (event: WorkerEvent) => void) => EventReader, pieces: readonly Buffer[]): WorkerEvent[] {
  const events: WorkerEvent[] = [];
  const reader = make((event) => events.push(event));
  for (const piece of pieces) reader.push(piece);
  reader.end();
  return events;
}

/** The rules of server-sent events, on a text that is all there. */
function eventsOf(bytes: Buffer): WorkerEvent[] {
  const events: WorkerEvent[] = [];
  let event = "";
  let data: string[] = [];
  // A line that has no end yet counts for nothing.
  const lines = new TextDecoder()
    .decode(bytes)
    .split(/\r\n|\n|\r/)
    .slice(0, -1);
  for (const line of lines) {
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") event = value;
    if (field === "data") data.push(value);
    if (line !== "") continue;
    if (data.length > 0) events.push({ event, data: data.join("\n") });
    event = "";
    data = [];
  }
  return events;
}

const line = fc.constantFrom(
  'data: {"a":1}',
  "data:x",
  "data",
  "data: ",
  "data:  two",
  "event: message_stop",
  "event:",
  "id: 7",
  "retry: 10",
  "retry: soon",
  ": ping",
  ":",
  "",
  "",
  "other: 1",
  "data: é漢\u{1f600}",
);
const breaks = fc.constantFrom("\n", "\r\n", "\r");
const stream = fc.array(fc.tuple(line, breaks), { maxLength: 20 }).map((all) => all.flat().join(""));
const HINTS = [
  "data: ",
  "data:",
  "event: ",
  "\n\n",
  "\r\n\r\n",
  "\r\r",
  "\r",
  "\n",
  ": ",
  "\u{feff}",
  "id: \u0000",
  "[DONE]",
];

describe("a damaged stream of events", () => {
  it("brings the events that the rules find in it, however it is cut", () => {
    const bytes = fc.oneof(
      stream.map((text) => Buffer.from(text)),
      damaged(stream, HINTS),
    );
    fc.assert(
      fc.property(bytes, pieceSizes, (whole, sizes) => {
        const found = readIn(readEvents, [whole]);
        expect(readIn(readEvents, inPieces(whole, sizes))).toEqual(found);
        expect(readIn(readEvents, inPieces(whole, [1]))).toEqual(found);
        // A CR at the end may be half of a line's end, which shows only with the next byte.
        expect(found).toEqual(whole.at(-1) === 0x0d ? found : eventsOf(whole));
      }),
      { numRuns: 400 },
    );
  });

  it("is refused once one event is too large, also with comments in between", () => {
    const piece = "x".repeat(65_536);
    const taken = (text: string) => {
      const reader = readEvents(() => {});
      for (let count = 1; count < 2_000; count += 1) {
        try {
          reader.push(Buffer.from(text));
        } catch (error) {
          if (!(error instanceof TranslationError)) throw error;
          return count;
        }
      }
      return Number.POSITIVE_INFINITY;
    };
    expect(taken(`data: ${piece}\n: still there\n`)).toBeLessThan(600);
    expect(taken(`data: ${piece}\n:\n:\n:\n`)).toBeLessThan(600);
  });
});

describe("a damaged stream of lines", () => {
  it("brings its lines, however it is cut", () => {
    const lines = fc
      .array(fc.constantFrom('{"done":false}', '{"é":"漢\u{1f600}"}', "", " ", "[]"), { maxLength: 8 })
      .map((all) => all.join("\n"));
    fc.assert(
      fc.property(damaged(lines, ["\n", "\r\n", "\u2028", "{"]), pieceSizes, (bytes, sizes) => {
        const found = readIn(readLines, [bytes]);
        expect(readIn(readLines, inPieces(bytes, sizes))).toEqual(found);
        const wanted = new TextDecoder()
          .decode(bytes, { stream: true })
          .split("\n")
          .map((one) => one.trim());
        expect(found.map(({ data }) => data)).toEqual(wanted.filter((one) => one !== ""));
      }),
      { numRuns: 300 },
    );
  });
});
