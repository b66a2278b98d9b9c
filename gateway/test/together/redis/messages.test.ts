import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { messageOf, readAnswer, readTold } from "../../../src/together/redis/messages.ts";

const said = (value: unknown) => `b ${JSON.stringify(value)}`;

describe("messages of other gateways", () => {
  it("are read as they were told, but for one's own", () => {
    const told = {
      counts: { step: 3, fields: [["k:alice", 1]] as [string, number][], isAll: true },
      news: [{ kind: "asked" as const, key: "m" }],
      question: { number: 7, question: { kind: "state" as const } },
      bye: true as const,
    };
    expect(readTold(messageOf("b", told), "a")).toEqual({ from: "b", told });
    expect(readTold(messageOf("a", told), "a")).toBeNull();
    expect(readAnswer(messageOf("b", { number: 7, value: [1] }), "a")).toEqual({
      from: "b",
      answer: { number: 7, value: [1] },
    });
    expect(readAnswer(messageOf("b", { number: 7 }), "a")?.answer).toEqual({ number: 7 });
  });

  it("of a newer release say more than is understood", () => {
    expect(readTold(said({ bye: true, since: 7 }), "a")).toEqual({ from: "b", told: { bye: true } });
  });

  it.each([
    [null],
    ["text"],
    [[]],
    [{ counts: null }],
    [{ counts: { step: 1, fields: 7 } }],
    [{ counts: { step: 1, fields: [null] } }],
    [{ counts: { step: 1, fields: [["k:alice", "1"]] } }],
    [{ counts: { step: 1, fields: [["k:alice", -1]] } }],
    [{ counts: { step: 1e300, fields: [] } }],
    [{ news: 7 }],
    [{ news: [null] }],
    [{ question: null }],
    [{ question: { number: 1, question: null } }],
    [{ question: { number: "1", question: { kind: "state" } } }],
  ])("are none where they say %j", (value) => {
    expect(readTold(said(value), "a")).toBeNull();
  });

  it("can be anything, and nothing of it throws", () => {
    const text = fc.oneof(
      fc.string(),
      fc.json().map((json) => `b ${json}`),
    );
    fc.assert(
      fc.property(text, (said) => {
        expect(() => [readTold(said, "a"), readAnswer(said, "a")]).not.toThrow();
      }),
    );
  });
});
