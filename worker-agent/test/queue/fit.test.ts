import { describe, expect, it } from "vitest";
import { canGoFor, neverFits, replaces, tooHeavy, weightOf } from "../../src/queue/fit.ts";
import { modelRules } from "./workload.ts";

const GB = 1_024 ** 3;
const small = modelRules("small", { memory: 4 * GB });
const large = modelRules("large", { memory: 20 * GB });
const unknown = modelRules("unknown");
const pinned = modelRules("pinned", { memory: 6 * GB, pinned: true });
const script = modelRules("script", { memory: GB, unloads: false });
const other = modelRules("other", { memory: GB, unloads: false });
const fixed = modelRules("fixed", { memory: GB, unloads: false, replacedIn: null });

describe("what fits", () => {
  it("is the sum of what is known, pinned models included", () => {
    expect(tooHeavy(large, [small], 24 * GB)).toBe(0);
    expect(tooHeavy(large, [small, pinned], 24 * GB)).toBe(6 * GB);
  });

  it("is one model alone where its size is not known", () => {
    expect(weightOf(unknown, 24 * GB)).toBe(24 * GB);
    expect(tooHeavy(unknown, [], 24 * GB)).toBe(0);
    expect(tooHeavy(unknown, [small], 24 * GB)).toBeGreaterThan(0);
    expect(tooHeavy(small, [unknown], 24 * GB)).toBeGreaterThan(0);
  });

  it("is one at a time without a budget, beside pinned ones and those that nothing takes out", () => {
    expect(tooHeavy(large, [], 0)).toBe(0);
    expect(tooHeavy(large, [small], 0)).toBe(1);
    expect(tooHeavy(large, [pinned, fixed], 0)).toBe(0);
    expect(tooHeavy(pinned, [large], 0)).toBe(0);
  });
});

describe("a model that cannot be unloaded", () => {
  it("goes for another of its kind only", () => {
    expect(replaces(other, script)).toBe(true);
    expect(canGoFor(script, other)).toBe(true);
    expect(canGoFor(script, small)).toBe(false);
    expect(canGoFor(small, script)).toBe(true);
  });

  it("is replaced by those of its own holder alone", () => {
    const engine = modelRules("engine", { unloads: false, replacedIn: "http://127.0.0.1:8080" });
    expect(replaces(engine, script)).toBe(false);
    expect(replaces(engine, { ...engine, name: "second" })).toBe(true);
    expect(replaces(fixed, { ...fixed, name: "second" })).toBe(false);
  });
});

describe("a model that can never be loaded", () => {
  it("is larger than what the pinned ones leave, and the reason names both sizes", () => {
    expect(neverFits(large, [small, pinned, large], 26 * GB)).toBeNull();
    expect(neverFits(large, [small, pinned, large], 25 * GB)).toBe(
      "it needs 20 GB, and there are 19 GB beside the pinned models",
    );
    expect(neverFits(large, [], 10 * GB)).toBe("it needs 20 GB, and there are 10 GB");
    expect(neverFits(unknown, [pinned], 24 * GB)).toContain("its size is not known");
  });

  it("would replace one that is pinned", () => {
    const kept = { ...script, pinned: true };
    expect(neverFits(other, [kept], 24 * GB)).toContain("script, which is pinned");
    expect(neverFits(kept, [kept], 24 * GB)).toBeNull();
  });
});
