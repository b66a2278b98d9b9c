import { describe, expect, it } from "vitest";
import { CallTable } from "../../../src/translate/chat/call-table.ts";
import type { CallPiece } from "../../../src/translate/chat/chat-piece.ts";

type Told = [index: number | null, id: string | null, name: string | null, args: string];

/** The calls that these pieces come to. */
function gathered(...pieces: Told[]): [name: string | null, args: string][] {
  const calls = new CallTable<CallPiece>();
  for (const [index, id, name, args] of pieces) calls.add({ index, id, name, args }, (first) => first);
  return calls.all.map(({ name, args }) => [name, args]);
}

describe("pieces of calls", () => {
  it.each<[string, Told[]]>([
    [
      "by their index",
      [
        [0, "a", "f", "{"],
        [1, "b", "g", "{"],
        [0, null, null, "}"],
        [1, null, null, " }"],
      ],
    ],
    [
      "by their id, where all have one index",
      [
        [0, "a", "f", "{"],
        [0, "b", "g", "{ "],
        [0, "a", null, "}"],
        [0, "b", null, "}"],
      ],
    ],
    [
      "by their id, where none has an index",
      [
        [null, "a", "f", "{"],
        [null, "b", "g", "{ "],
        [null, "a", null, "}"],
        [null, "b", null, "}"],
      ],
    ],
    [
      "by their index, where all have one id",
      [
        [0, "a", "f", "{"],
        [1, "a", "g", "{ "],
        [0, "a", null, "}"],
        [1, "a", null, "}"],
      ],
    ],
    [
      "by their names alone",
      [
        [null, null, "f", "{}"],
        [null, null, "g", "{ }"],
      ],
    ],
    [
      "that repeat all but the arguments",
      [
        [0, "a", "f", "{"],
        [0, "a", "f", "}"],
        [1, "b", "g", "{ "],
        [1, "b", "g", "}"],
        [1, "b", "g", ""],
      ],
    ],
    [
      "whose ids come late",
      [
        [0, null, "f", "{"],
        [0, "a", null, "}"],
        [1, null, "g", "{ "],
        [1, "b", null, "}"],
      ],
    ],
  ])("are put together %s", (_, pieces) => {
    expect(gathered(...pieces)).toEqual([
      ["f", "{}"],
      ["g", "{ }"],
    ]);
  });

  it("begin another call of the same name only behind complete arguments", () => {
    expect(gathered([0, null, "f", "{}"], [0, null, "f", "{}"])).toHaveLength(2);
    expect(gathered([0, null, "f", ""], [0, null, "f", "{"], [0, null, "f", "}"], [0, null, "f", ""])).toEqual([
      ["f", "{}"],
    ]);
  });
});
