import { describe, expect, it } from "vitest";
import { askedMs, mayRelax, wishesOfKey } from "../../src/scheduling/asked-deadline.ts";

const farm = { firstByte: 30_000, relax: false };
const own = { firstByte: 5_000, relax: true };
const silent = { firstByte: null, relax: null };

describe("a deadline", () => {
  it("is what the request asks for, else its key, else the farm", () => {
    expect(askedMs(100, own, farm)).toBe(100);
    expect(askedMs(null, own, farm)).toBe(5_000);
    expect(askedMs(null, silent, farm)).toBe(30_000);
    expect(askedMs(null, null, farm)).toBe(30_000);
    expect(askedMs(null, { firstByte: 0, relax: null }, farm)).toBeNull();
    expect(askedMs(null, null, { firstByte: 0, relax: false })).toBeNull();
  });

  it("may be relaxed by the same order", () => {
    expect(mayRelax("0", own, farm)).toBe(false);
    expect(mayRelax("1", null, farm)).toBe(true);
    expect(mayRelax(undefined, own, farm)).toBe(true);
    expect(mayRelax(undefined, silent, { ...farm, relax: true })).toBe(true);
    expect(mayRelax(undefined, null, farm)).toBe(false);
    expect(() => mayRelax("yes", null, farm)).toThrow("must be 1 or 0");
  });

  it("is the one of the caller's own key", () => {
    const keys = [{ name: "alice", deadlines: own }];
    expect(wishesOfKey({ keys }, "alice")).toBe(own);
    expect(wishesOfKey({ keys }, "bob")).toBeNull();
  });
});
