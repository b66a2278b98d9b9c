import { describe, expect, it } from "vitest";
import { factsOf } from "../../src/swap/engine-list.ts";

const list = (entry: object) => JSON.stringify({ object: "list", data: [{ id: "other" }, { id: "qwen", ...entry }] });

describe("what an engine's list tells of a loaded model", () => {
  it.each<[string, object, { engine: string | null; contextLength: number | null }]>([
    [
      "llama-server",
      { owned_by: "llamacpp", meta: { n_ctx: 8_192, n_ctx_train: 40_960 } },
      { engine: "llama-server", contextLength: 8_192 },
    ],
    ["vLLM", { owned_by: "vllm", max_model_len: 32_768 }, { engine: "vllm", contextLength: 32_768 }],
    ["SGLang", { owned_by: "sglang", max_model_len: 4_096 }, { engine: "sglang", contextLength: 4_096 }],
    ["any other", { owned_by: "library" }, { engine: null, contextLength: null }],
    ["one that talks nonsense", { owned_by: 1, meta: [], max_model_len: -1 }, { engine: null, contextLength: null }],
  ])("is read as %s has it", (_engine, entry, facts) => {
    expect(factsOf(list(entry), "qwen")).toEqual(facts);
  });

  it.each(["", "not JSON", "[]", '{"data":null}', list({})])("is nothing for another model, or no list: %s", (body) => {
    expect(factsOf(body, "coder")).toEqual({ engine: null, contextLength: null });
  });
});
