import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AnswerTail } from "../src/index.ts";

function tailOf(pieces: readonly (string | Buffer)[]): AnswerTail {
  const tail = new AnswerTail();
  for (const piece of pieces) tail.add(Buffer.from(piece));
  return tail;
}

describe("the tail of an answer", () => {
  it("is its last 2 KB, however it was cut", () => {
    const answer = Array.from({ length: 1_500 }, (_, i) => `${i};`).join("");
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1 }), fc.nat(answer.length), (sizes, end) => {
        const pieces: string[] = [];
        for (let at = 0; at < end; at += pieces.at(-1)?.length ?? 0) {
          pieces.push(answer.slice(at, Math.min(end, at + (sizes[pieces.length % sizes.length] ?? 1))));
        }
        const text = tailOf(pieces).text();
        expect(answer.slice(0, end).endsWith(text)).toBe(true);
        expect(text.length).toBeGreaterThanOrEqual(Math.min(end, 2_048));
        expect(text.length).toBeLessThanOrEqual(4_096);
      }),
    );
  });

  it("costs little memory whatever comes", () => {
    const tail = new AnswerTail();
    for (let i = 0; i < 100_000; i += 1) tail.add(Buffer.alloc(i % 7 === 0 ? 1 : 200));
    expect(tail.heldBytes).toBeLessThan(4_096);
    for (let i = 0; i < 100_000; i += 1) tail.add(Buffer.alloc(1));
    expect(tail.heldBytes).toBeLessThan(4_096);
  });

  it.each<[string[], boolean]>([
    [[], true],
    [["data: 1\n", "\n"], true],
    [["data: 1\r\n", "\r", "\n"], true],
    [["data: 1\r\r"], true],
    [["d", "\n", "", "", "", "\n"], true],
    [["data: 1\n"], false],
    [["data: 1\n\n", "d"], false],
    [["da", "t"], false],
  ])("tells whether it is at an event's boundary: %j", (pieces, boundary) => {
    expect(tailOf(pieces).atBoundary("event")).toBe(boundary);
  });
});
