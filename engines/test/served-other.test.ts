import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { servedOther } from "../src/served-other.ts";

describe("an answer's model", () => {
  it.each([
    ["qwen/qwen3-8b", "mistral-7b", true],
    ["qwen3:8b", "qwen3:4b", true],
    ["llama3.2", "llama3.2:latest", false],
    ["Qwen/Qwen3-8B", "qwen3-8b", false],
    ["qwen3-8b", "qwen/qwen3-8b@q4_k_m", false],
    ["qwen/qwen3-8b", "qwen/qwen3-8b:2", false],
    ["m", "", false],
    ["m", null, false],
  ])("%s answered by %s is another: %s", (asked, answered, other) => {
    expect(servedOther(asked, answered)).toBe(other);
  });

  it("is never another for a model's own name, and the question may be turned round", () => {
    const name = fc.string({ minLength: 1 }).filter((text) => text.trim() !== "");
    fc.assert(
      fc.property(name, name, (a, b) => {
        expect(servedOther(a, a)).toBe(false);
        expect(servedOther(a, b)).toBe(servedOther(b, a));
      }),
    );
  });
});
