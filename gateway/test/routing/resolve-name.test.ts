import { nameKey } from "@farmgate/shared";
import { describe, expect, it } from "vitest";
import { fallbacksOf, keyAllows, nameRules, resolveName } from "../../src/routing/resolve-name.ts";
import { catalogOf, model, worker } from "./farm.ts";

const rules = nameRules({
  aliases: { Fast: "qwen3-4b", "qwen-best": "gpt-oss-120b" },
  fallbacks: { "qwen3-32b": ["fast", "qwen3-8b:latest", "QWEN3-8B", "qwen3-32b"], fast: ["tiny"] },
});
const { union } = catalogOf([worker("a", { models: [model("coder", "warm", { aliases: ["code"] })] })]);
const allows = (patterns: readonly string[], asked: string) => keyAllows(patterns, resolveName(asked, rules), union);

describe("a caller's name", () => {
  it("is an alias, in any spelling, or the model itself", () => {
    expect(resolveName("FAST:latest", rules)).toEqual({ asked: "FAST:latest", name: "qwen3-4b", key: "qwen3-4b" });
    expect(resolveName("Qwen3-8B:latest", rules)).toEqual({
      asked: "Qwen3-8B:latest",
      name: "Qwen3-8B:latest",
      key: nameKey("qwen3-8b"),
    });
  });
});

describe("a key's models", () => {
  it.each([
    [["*"], "anything", true],
    [["qwen3-*"], "fast", true],
    [["llama*"], "fast", false],
    [["fast"], "Fast", true],
    [["fast"], "qwen3-4b", false],
    [["qwen*"], "qwen-best", false],
    [["qwen-best"], "qwen-best", true],
    [["coder"], "code", true],
    [["coder"], "CODE:latest", true],
    [["cod*"], "decoder", false],
    [["llama3.2"], "LLAMA3.2:latest", true],
    [[], "anything", false],
  ])("%j and the name %s: %s", (patterns, asked, expected) => {
    expect(allows(patterns, asked)).toBe(expected);
  });
});

describe("fallbacks", () => {
  const names = (asked: string, patterns: readonly string[]) =>
    fallbacksOf(resolveName(asked, rules), rules, patterns, union).map(({ name }) => name);

  it("come in their order, each model once, never the model itself", () => {
    expect(names("qwen3-32b", ["*"])).toEqual(["qwen3-4b", "qwen3-8b:latest"]);
  });

  it("are left out where the key does not allow them", () => {
    expect(names("qwen3-32b", ["qwen3-32b", "qwen3-8b"])).toEqual(["qwen3-8b:latest"]);
    expect(names("qwen3-32b", ["qwen3-32b"])).toEqual([]);
  });

  it("may be given for an alias, and are not followed further", () => {
    expect(names("fast", ["*"])).toEqual(["tiny"]);
    expect(names("qwen3-4b", ["*"])).toEqual([]);
    expect(names("tiny", ["*"])).toEqual([]);
  });
});
