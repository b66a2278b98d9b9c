import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { globMatches } from "../src/model-glob.ts";
import { closeNames, nameKey } from "../src/model-name.ts";

describe("the key of a name", () => {
  it.each([
    ["llama3.2", "llama3.2"],
    ["LLAMA3.2", "llama3.2"],
    ["llama3.2:latest", "llama3.2"],
    ["llama3.2:LATEST", "llama3.2"],
    ["gemma:27b", "gemma:27b"],
    ["hf.co/org/M-GGUF:Q4_K_M", "org/m-gguf:q4_k_m"],
    ["org/M-GGUF:Q4_K_M", "org/m-gguf:q4_k_m"],
    ["HuggingFace.co/org/M-GGUF:latest", "org/m-gguf"],
    ["registry.ollama.ai/library/llama3.2:latest", "llama3.2"],
    ["registry.ollama.ai/org/llama3.2", "org/llama3.2"],
    ["library/llama3.2", "llama3.2"],
    ["koboldcpp/llama3.2", "llama3.2"],
    ["example.com/library/llama3.2", "example.com/library/llama3.2"],
    ["my-hf.co/org/m", "my-hf.co/org/m"],
    ["hf.co/", "hf.co/"],
    ["library/:latest", "library/"],
    ["latest", "latest"],
    ["x:latest:latest", "x"],
  ])("%s: %s", (name, key) => {
    expect(nameKey(name)).toBe(key);
  });

  it("is its own key", () => {
    const name = fc.string({
      unit: fc.constantFrom("a", "B", ":", "/", ":latest", "Ä", "latest", "hf.co/", "Library/"),
    });
    fc.assert(
      fc.property(name, (text) => {
        expect(nameKey(nameKey(text))).toBe(nameKey(text));
      }),
    );
  });
});

/** Levenshtein's distance as it is defined. */
function textbookDistance(a: string, b: string): number {
  if (a === "" || b === "") return a.length + b.length;
  const rest = textbookDistance(a.slice(1), b.slice(1));
  if (a[0] === b[0]) return rest;
  return 1 + Math.min(rest, textbookDistance(a.slice(1), b), textbookDistance(a, b.slice(1)));
}

describe("names that come close", () => {
  const known = ["qwen3-8b", "qwen3-4b", "qwen3-coder-30b", "llama3.2:latest", "bge-m3", "a"];

  it.each([
    ["qwen3-7b", ["qwen3-4b", "qwen3-8b"]],
    ["QWEN3_8B", ["qwen3-8b"]],
    ["llama3", ["llama3.2:latest"]],
    ["coder", ["qwen3-coder-30b"]],
    ["my-org/bge-m3", ["bge-m3"]],
    ["what is this", []],
    ["", []],
  ])("to %j: %j", (name, expected) => {
    expect(closeNames(name, known).slice(0, Math.max(1, expected.length))).toEqual(expected);
  });

  it("are at most as many as asked for, and quickly found for names of any length", () => {
    const many = Array.from({ length: 2_000 }, (_, i) => `${"model".repeat(20)}-${i}`);
    expect(closeNames("model".repeat(20), many, 2)).toHaveLength(2);
    const start = performance.now();
    closeNames("x".repeat(1_000_000), many);
    // As many and as long as a catalogue can have them.
    const long = Array.from({ length: 10_000 }, (_, i) => `${"ab".repeat(140)}-${i}`);
    closeNames(`b${"ab".repeat(140)}`, long);
    expect(performance.now() - start).toBeLessThan(6_000);
  });

  it("are those within a few letters, by the textbook's distance", () => {
    const word = fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 1, maxLength: 7 });
    fc.assert(
      fc.property(word, fc.uniqueArray(word, { maxLength: 8 }), (name, words) => {
        const limit = Math.max(2, Math.floor(name.length / 3));
        const isInside = (one: string) =>
          Math.min(one.length, name.length) >= 3 && (one.includes(name) || name.includes(one));
        const expected = words.filter((one) => {
          const distance = isInside(one) ? 0.5 : textbookDistance(name, one);
          return distance <= limit && distance < Math.min(name.length, one.length);
        });
        expect(closeNames(name, words, words.length).toSorted()).toEqual(expected.toSorted());
      }),
      { numRuns: 300 },
    );
  });
});

describe("a pattern", () => {
  it.each([
    ["*", "anything/at:all", true],
    ["", "", true],
    ["", "a", false],
    ["qwen3-8b", "qwen3-8b", true],
    ["qwen3-8b", "qwen3-8b-instruct", false],
    ["QWEN*", "qwen3-8b", true],
    ["*-8b", "Qwen3-8B", true],
    ["*-8b", "qwen3-8b-it", false],
    ["hf.co/*:q4*", "hf.co/org/M-GGUF:Q4_K_M", true],
    ["hf.co/*", "org/M-GGUF:Q4_K_M", false],
    ["hf.co/*", "qwen3:8b", false],
    ["hf.co/org/*", "org/M-GGUF:Q4_K_M", true],
    ["hf.co/org/M-GGUF", "ORG/m-gguf:latest", true],
    ["org/*", "hf.co/org/M-GGUF:Q4_K_M", true],
    ["library/*:latest", "library/qwen3", true],
    ["library/qwen3:latest", "qwen3", true],
    ["qwen*", "library/qwen3", true],
    ["library/*", "library/qwen3", true],
    ["a*b*c", "a-b-b-c", true],
    ["a*b*c", "a-c-b", false],
    ["a**b", "ab", true],
    ["llama3.2", "llama3.2:latest", true],
    ["llama3.2:latest", "llama3.2", true],
    ["*:latest", "llama3.2", true],
    ["*:latest", "qwen3:8b", false],
    ["*:latest", "host:80/model", true],
    ["a.c", "abc", false],
    ["a?c", "abc", false],
    ["[a]*", "a", false],
  ])("%j and %j: %s", (pattern, model, expected) => {
    expect(globMatches(pattern, model)).toBe(expected);
  });

  it("agrees with the regular expression that it means", () => {
    const letters = (...all: string[]) => fc.string({ unit: fc.constantFrom(...all), maxLength: 8 });
    fc.assert(
      fc.property(letters("a", "b", "*"), letters("a", "b"), (pattern, text) => {
        const expected = new RegExp(`^${pattern.replaceAll("*", ".*")}$`).test(text);
        expect(globMatches(pattern, text)).toBe(expected);
      }),
      { numRuns: 2_000 },
    );
  });

  it("of many stars does not run away", () => {
    const start = performance.now();
    expect(globMatches(`${"*a".repeat(100)}*b`, "a".repeat(20_000))).toBe(false);
    expect(performance.now() - start).toBeLessThan(1_000);
  });
});
