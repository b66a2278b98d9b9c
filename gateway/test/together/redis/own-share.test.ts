import { describe, expect, it } from "vitest";
import { OwnShare } from "../../../src/together/redis/own-share.ts";

/** Requests under way, to be changed by the test. */
function share() {
  const pairs = new Map<string, number>();
  const callers = new Map<string, number>();
  const own = new OwnShare({ counts: () => new Map([["w", new Map(pairs)]]), callers: () => new Map(callers) });
  return { own, pairs, callers };
}

describe("what a member has under way, against its record", () => {
  it("adds what changed to sums, and tells pairs and keys as they are", () => {
    const { own, pairs, callers } = share();
    expect(own.step()).toBeNull();
    pairs.set("m", 2).set("n", 1);
    callers.set("alice", 1);
    expect(own.step()).toEqual({
      sums: ["w:w", 3, "k:alice", 1],
      pairs: ["p:w\0m", 2, "p:w\0n", 1],
      told: new Map([
        ["p:w\0m", 2],
        ["p:w\0n", 1],
        ["k:alice", 1],
      ]),
    });
    expect(own.step()).toBeNull();
    pairs.delete("n");
    callers.set("alice", 0);
    expect(own.step()).toMatchObject({ sums: ["w:w", -1, "k:alice", -1], pairs: ["p:w\0n", 0] });
  });

  it("does not add what a claim has added, but tells of it", () => {
    const { own, pairs, callers } = share();
    own.claimed("w", "alice");
    pairs.set("m", 1);
    callers.set("alice", 1);
    expect(own.step()).toEqual({
      sums: [],
      pairs: ["p:w\0m", 1],
      told: new Map([
        ["p:w\0m", 1],
        ["k:alice", 1],
      ]),
    });
  });

  it("leaves the place of a claim alone that is not answered yet", () => {
    const { own, pairs } = share();
    pairs.set("m", 1);
    own.step();
    // A claim is sent, one request leaves, and a step is made before the answer.
    pairs.set("m", 0);
    expect(own.step()?.sums).toEqual(["w:w", -1]);
    own.claimed("w", null);
    pairs.set("m", 1);
    expect(own.step()?.sums).toEqual([]);
  });

  it("takes back what was claimed and is not under way", () => {
    const { own } = share();
    own.claimed("v", null);
    expect(own.step()).toEqual({ sums: ["w:v", -1], pairs: [], told: new Map() });
    expect(own.step()).toBeNull();
  });

  it("knows what it has written as a whole", () => {
    const { own, pairs } = share();
    own.claimed("w", null);
    own.claimed("w", null);
    pairs.set("m", 1);
    expect(own.whole().fields).toEqual(["w:w", 1, "p:w\0m", 1]);
    expect(own.step()).toBeNull();
  });
});
