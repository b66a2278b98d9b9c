import { describe, expect, it } from "vitest";
import { HeardMembers } from "../../../src/together/redis/heard-members.ts";

const pair = (key: string) => `p:w\0${key}`;
const told = (fields: Record<string, number>) => new Map(Object.entries(fields));

describe("what was heard of other members", () => {
  it("adds up over all of them, and forgets who has gone", () => {
    const heard = new HeardMembers();
    heard.told("a", 1, told({ [pair("m")]: 2, "k:alice": 1 }), true);
    heard.told("b", 1, told({ [pair("m")]: 1, [pair("n")]: 1, "k:alice": 1 }), true);
    expect([heard.worker("w"), heard.pair("w", "m"), heard.caller("alice")]).toEqual([4, 3, 2]);
    heard.told("b", 2, told({ [pair("n")]: 0 }), false);
    expect(heard.pairs("w")).toEqual(new Map([["m", 3]]));
    heard.keepOnly(["b"]);
    expect([heard.worker("w"), heard.caller("alice")]).toEqual([1, 1]);
  });

  it("takes a record for what is older than what was told since", () => {
    const heard = new HeardMembers();
    heard.told("a", 5, told({ [pair("m")]: 3 }), true);
    expect(heard.read("a", { g: "1", s: "4", "w:w": "9", [pair("m")]: "9" })).toBe(true);
    expect(heard.worker("w")).toBe(3);
    expect(heard.read("a", { g: "1", s: "5", "w:w": "4", [pair("m")]: "4" })).toBe(true);
    expect(heard.worker("w")).toBe(4);
    heard.told("a", 5, told({ [pair("m")]: 8 }), false);
    expect(heard.worker("w")).toBe(4);
  });

  it("wants to read again where a part is all it knows and the record is older", () => {
    const heard = new HeardMembers();
    heard.told("a", 5, told({ [pair("m")]: 1 }), false);
    expect(heard.knows("a")).toBe(false);
    expect(heard.read("a", { s: "4", [pair("n")]: "2" })).toBe(false);
    expect(heard.read("a", { s: "5", [pair("m")]: "1", [pair("n")]: "2" })).toBe(true);
    expect([heard.knows("a"), heard.worker("w")]).toEqual([true, 3]);
    heard.doubt();
    heard.told("a", 7, told({ [pair("m")]: 0 }), false);
    expect(heard.read("a", { s: "6" })).toBe(false);
  });

  it("leaves out of a record what is no count", () => {
    const heard = new HeardMembers();
    heard.told("b", 1, told({ [pair("m")]: 2 }), true);
    const record = { s: "1", [pair("m")]: "garbage", [pair("n")]: "-4", [pair("o")]: "1e308", "k:alice": "0.5" };
    heard.read("a", { ...record, [pair("p")]: "1" });
    expect([heard.worker("w"), heard.caller("alice")]).toEqual([3, 0]);
    heard.keepOnly([]);
    expect(heard.worker("w")).toBe(0);
  });

  it("believes the record where a step was told that the member never made", () => {
    const heard = new HeardMembers();
    heard.told("a", 5, told({ [pair("m")]: 1 }), true);
    heard.told("a", Number.MAX_SAFE_INTEGER, told({ [pair("m")]: 9 }), false);
    heard.doubt();
    expect(heard.read("a", { s: "6", [pair("m")]: "2" }, heard.stepOf("a"))).toBe(true);
    heard.told("a", 7, told({ [pair("m")]: 3 }), false);
    expect([heard.worker("w"), heard.knows("a")]).toEqual([3, true]);
  });
});
