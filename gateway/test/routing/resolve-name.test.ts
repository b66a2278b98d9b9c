import { nameKey } from "@farmgate/shared";
import { describe, expect, it } from "vitest";
import { fallbacksOf, keyAllows, nameRules, resolveName } from "../../src/routing/resolve-name.ts";
import { catalogOf, model, worker } from "./farm.ts";

const rules = nameRules({
  aliases: { Fast: "qwen3-4b", "qwen-best": "gpt-oss-120b", here: "coder@a" },
  fallbacks: {
    "qwen3-32b": ["fast", "qwen3-8b:latest", "QWEN3-8B", "qwen3-32b"],
    fast: ["tiny"],
    coder: ["tiny"],
    "coder@b": ["coder@a", "CODER", "code@a"],
  },
});
const source = catalogOf([
  worker("a", {
    models: [
      model("coder", "warm", { aliases: ["code", "both"] }),
      model("hf.co/org/M-GGUF:Q4_K_M", "warm", { aliases: ["small"] }),
      model("qwen/qwen3-8b@b", "warm"),
    ],
  }),
  worker("b", { models: [model("coder", "cold"), model("big", "cold", { aliases: ["both", "small"] })] }),
  worker("c", { models: [model("small", "warm")], health: "unhealthy" }),
]);
const resolve = (asked: string) => resolveName(asked, rules, source);
const allows = (patterns: readonly string[], asked: string) => keyAllows(patterns, resolve(asked), source.union);

describe("a caller's name", () => {
  it("is an alias of the owner's, in any spelling, or the model itself", () => {
    expect(resolve("FAST:latest")).toMatchObject({ asked: "FAST:latest", name: "qwen3-4b", key: "qwen3-4b" });
    expect(resolve("Qwen3-8B:latest")).toMatchObject({
      asked: "Qwen3-8B:latest",
      name: "Qwen3-8B:latest",
      key: nameKey("qwen3-8b"),
      worker: null,
    });
  });

  it("is an alias of workers that all mean one model by it", () => {
    expect(resolve("CODE")).toMatchObject({ name: "coder", key: "coder" });
  });

  it("stays as it is where workers mean different models by it", () => {
    expect(resolve("both")).toMatchObject({ name: "both", key: "both" });
    expect(source.aliases.get("both")).toEqual([
      { key: "coder", id: "coder", workers: ["a"] },
      { key: "big", id: "big", workers: ["b"] },
    ]);
  });

  it("is a model's own name first, also while the worker that has it is away", () => {
    expect(resolve("small").key).toBe("small");
    expect(source.union.has("small")).toBe(false);
  });

  it("is what the owner says before all that", () => {
    const owners = nameRules({ aliases: { both: "big", small: "coder", coder: "small" }, fallbacks: {} });
    const key = (asked: string) => resolveName(asked, owners, source).key;
    expect([key("both"), key("small"), key("coder")]).toEqual(["big", "coder", "small"]);
  });
});

describe("a name with a worker after it", () => {
  it.each([
    ["coder@b", "coder", "b"],
    ["CODER:latest@b", "coder", "b"],
    ["coder@b:latest", "coder", "b"],
    ["code@b", "coder", "b"],
    ["both@a", "coder", "a"],
    ["both@b", "big", "b"],
    ["both@c", "both", "c"],
    ["small@a", "small", "a"],
    ["fast@a", "qwen3-4b", "a"],
    ["here", "coder", "a"],
    ["org/M-GGUF:Q4_K_M@a", "org/m-gguf:q4_k_m", "a"],
    ["qwen/qwen3-8b@b@a", "qwen/qwen3-8b@b", "a"],
    ["coder@c", "coder", "c"],
  ])("%s: the model %s at %s", (asked, key, at) => {
    expect(resolve(asked)).toMatchObject({ key, worker: at });
  });

  it.each(["coder@nobody", "coder@B", "@a", "coder@", "qwen/qwen3-8b@b", "coder@a@nobody"])(
    "%s: a whole name, since that is no worker, or the name of a model",
    (asked) => {
      expect(resolve(asked)).toMatchObject({ key: nameKey(asked), worker: null });
    },
  );
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
    [["coder"], "coder@b", true],
    [["big"], "coder@b", false],
    [["big"], "both@a", false],
    [["*@b"], "coder@b", false],
    [["coder@b"], "coder@b", true],
    [["coder@b"], "coder@a", false],
    [["fast"], "fast@a", true],
    [["here"], "here", true],
    [["here"], "coder@a", false],
    [["qwen*"], "hf.co/org/M-GGUF:Q4_K_M", false],
    [["hf.co/*"], "coder", false],
    [["hf.co/*"], "hf.co/coder", false],
    [["hf.co/*"], "library/coder@a", false],
    [["hf.co/*"], "org/M-GGUF:Q4_K_M", true],
    [["org/*"], "HF.co/org/m-gguf:q4_k_m", true],
    [["library/*"], "library/coder", false],
  ])("%j and the name %s: %s", (patterns, asked, expected) => {
    expect(allows(patterns, asked)).toBe(expected);
  });
});

describe("fallbacks", () => {
  const names = (asked: string, patterns: readonly string[]) =>
    fallbacksOf(resolve(asked), rules, patterns, source).map(({ name, worker: at }) => name + (at ? `@${at}` : ""));

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

  it("of one worker's copy are those written for it, and may be another's or any", () => {
    expect(names("coder@b", ["*"])).toEqual(["coder@a", "CODER"]);
    expect(names("coder@a", ["*"])).toEqual([]);
    expect(names("code", ["*"])).toEqual(["tiny"]);
  });
});
