import { describe, expect, it } from "vitest";
import { familyOf, parameterCount, parameterSize, withTag } from "../../src/routes/ollama-names.ts";

describe("a name as Ollama shows it", () => {
  it.each([
    ["llama3.2", "llama3.2:latest"],
    ["llama3.2:1b", "llama3.2:1b"],
    ["org/model", "org/model:latest"],
    ["hf.co:443/org/model", "hf.co:443/org/model:latest"],
    ["hf.co/org/M-GGUF:Q4_K_M", "hf.co/org/M-GGUF:Q4_K_M"],
  ])("%s is %s", (name, shown) => expect(withTag(name)).toBe(shown));

  it.each([
    ["qwen3-4b:latest", "qwen3", "4B", 4e9],
    ["org/Qwen3-Coder-30B-A3B", "qwen3", "30B", 30e9],
    ["gemma3:270m", "gemma3", "270M", 270e6],
    ["mixtral-8x7b", "mixtral", "8x7B", 56e9],
    ["llama-3.3-70b", "llama", "70B", 70e9],
    ["smollm2-1.7b", "smollm2", "1.7B", 1.7e9],
    ["7", "unknown", "", null],
    ["coder", "coder", "", null],
  ])("%s is of the family %s, with %s parameters", (name, family, size, count) => {
    expect(familyOf(name, "chat")).toBe(family);
    expect(parameterSize(name)).toBe(size);
    expect(parameterCount(name)).toBe(count);
  });
});
