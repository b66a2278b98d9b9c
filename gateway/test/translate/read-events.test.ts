import { describe, expect, it } from "vitest";
import { type EventReader, readEvents, readLines } from "../../src/translate/read-events.ts";
import { TranslationError } from "../../src/translate/translation.ts";

const PIECE = Buffer.from("a".repeat(65_536));

/** Pieces until it is refused. */
function taken(reader: EventReader, piece: Buffer): number {
  for (let count = 1; count < 10_000; count += 1) {
    try {
      reader.push(piece);
    } catch (error) {
      if (error instanceof TranslationError) return count;
      throw error;
    }
  }
  return Number.POSITIVE_INFINITY;
}

describe("a worker's stream", () => {
  it("is refused once an event has no end in sight", () => {
    expect(
      taken(
        readEvents(() => {}),
        PIECE,
      ) * PIECE.length,
    ).toBeLessThan(40 * 1_024 ** 2);
    expect(
      taken(
        readEvents(() => {}),
        Buffer.concat([Buffer.from("data: "), PIECE, Buffer.from("\n")]),
      ),
    ).toBeLessThan(640);
    expect(
      taken(
        readLines(() => {}),
        PIECE,
      ) * PIECE.length,
    ).toBeLessThan(40 * 1_024 ** 2);
  });

  it("may go on for ever with events, comments and lines", () => {
    expect(
      taken(
        readEvents(() => {}),
        Buffer.concat([Buffer.from("data: "), PIECE, Buffer.from("\n\n")]),
      ),
    ).toBe(Number.POSITIVE_INFINITY);
    expect(
      taken(
        readEvents(() => {}),
        Buffer.concat([Buffer.from(": "), PIECE, Buffer.from("\n\n")]),
      ),
    ).toBe(Number.POSITIVE_INFINITY);
    expect(
      taken(
        readLines(() => {}),
        Buffer.concat([PIECE, Buffer.from("\n")]),
      ),
    ).toBe(Number.POSITIVE_INFINITY);
  });

  it("brings a large event of many pieces in the time that its bytes take", () => {
    const started = performance.now();
    const lengths: number[] = [];
    const readers = [
      readEvents(({ data }) => lengths.push(data.length)),
      readLines(({ data }) => lengths.push(data.length)),
    ];
    for (const reader of readers) {
      reader.push(Buffer.from("data: "));
      for (let i = 0; i < 200_000; i += 1) reader.push(Buffer.from("a".repeat(100)));
      reader.push(Buffer.from("\n\n"));
    }
    expect(lengths).toEqual([20_000_000, 20_000_006]);
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  it("keeps what a line ends with where it was cut behind the break, and its last line without one", () => {
    const lines: string[] = [];
    const reader = readLines(({ data }) => lines.push(data));
    for (const piece of ["{1", "\n{", "2", "}\n{3", "}"]) reader.push(Buffer.from(piece));
    reader.end();
    expect(lines).toEqual(["{1", "{2}", "{3}"]);
  });
});
