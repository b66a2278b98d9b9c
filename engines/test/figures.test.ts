import { describe, expect, it } from "vitest";
import { adapterFor } from "../src/adapter-for.ts";
import { type CatalogModel, type CatalogReport, ENGINE_NAMES } from "../src/catalog.ts";
import { EnginePoll } from "../src/engine-poll.ts";
import { fakeServer } from "./fake-server.ts";

async function reportOf(fixture: string): Promise<CatalogReport> {
  const result = await new EnginePoll("auto", fakeServer(fixture).get).run();
  if (result.kind !== "ok") throw new Error(`${fixture} is ${result.kind}`);
  return result.report;
}

describe("what engines tell of their models", () => {
  it.each<[string, string, Partial<CatalogModel>]>([
    [
      "ollama/one-loaded",
      "llama3.2:latest",
      {
        // Of one that runs: all that it takes, with its context; of the other the size of its file.
        memoryBytes: 3_825_819_648,
        contextLength: 4_096,
        quantization: "Q4_K_M",
        digest: "a80c4f17acd5",
      },
    ],
    ["ollama/one-loaded", "nomic-embed-text:latest", { memoryBytes: 274_302_450, kind: "embeddings" }],
    ["llama-server/single", "qwen3-8b", { memoryBytes: 5_027_783_488, quantization: null, digest: null }],
    ["lmstudio/0.4", "qwen/qwen3-8b", { memoryBytes: 5_030_000_000, quantization: "Q4_K_M", slots: 4 }],
    ["lmstudio/0.3", "qwen3-8b", { memoryBytes: null, quantization: "Q4_K_M", contextLength: 4_096 }],
    [
      "lemonade/imitates-ollama",
      "Qwen3-0.6B-GGUF",
      {
        memoryBytes: 380_000_000,
        contextLength: 4_096,
        quantization: "Q4_0",
        kind: "chat",
        apis: ["chat", "completions", "responses", "messages"],
      },
    ],
    [
      "lemonade/imitates-ollama",
      "nomic-embed-text-v1-GGUF",
      { kind: "embeddings", apis: ["embeddings"], quantization: "Q4_K_S" },
    ],
    ["lemonade/imitates-ollama", "Whisper-Tiny", { kind: "audio", apis: ["transcriptions"], quantization: null }],
    ["lemonade/imitates-ollama", "fireworks.kimi-k2p5", { memoryBytes: null, kind: "chat" }],
    ["localai/imitates-ollama", "whisper-1", { kind: "audio", apis: null }],
    ["sglang/one-model", "meta-llama/Llama-3.1-8B", { contextLength: 131_072, apis: null }],
    ["tgi/one-model", "HuggingFaceH4/zephyr-7b-beta", { contextLength: 4_096, digest: "fe5a4d8c", apis: null }],
    ["tei/embedding", "BAAI/bge-m3", { contextLength: 8_192, digest: "5617a9f61b02", kind: "embeddings" }],
    ["tei/reranker", "reranker", { kind: "rerank", apis: ["tei-rerank"] }],
    ["koboldcpp/one-model", "koboldcpp/gemma-3-4b", { aliases: ["gemma-3-4b"], queued: 2, apis: null }],
    ["whisper/ready", "whisper", { kind: "audio", apis: null }],
    ["jano/one-loaded", "code", { queued: 1, tokensPerSecond: 31.5, apis: null }],
    ["jano/one-loaded", "chat", { aliases: ["default"], queued: 2, tokensPerSecond: null }],
    ["agent/one-loaded", "coder", { memoryBytes: 21_474_836_480, slots: 4 }],
  ])("%s: %s", async (fixture, id, expected) => {
    const model = (await reportOf(fixture)).models.find((one) => one.id === id);
    expect(model).toMatchObject(expected);
  });

  it.each([
    ["llama-server/single", 4],
    ["llama-server/router", null],
    ["tei/embedding", 512],
    ["tgi/one-model", 128],
    ["sglang/one-model", 128],
    ["koboldcpp/one-model", 1],
    ["whisper/ready", 1],
    ["jano/one-loaded", 1],
    ["ollama/one-loaded", null],
    ["vllm/one-model", null],
  ])("%s takes %s at once in all", async (fixture, slots) => {
    expect((await reportOf(fixture)).slots).toBe(slots);
  });

  it.each([
    ["agent/one-loaded", true],
    ["ollama/one-loaded", true],
    ["vllm/one-model", true],
    ["llama-server/router", true],
    ["llama-swap/one-ready", true],
    ["jano/one-loaded", true],
    ["openai/someone", true],
    ["llama-server/single", false],
    ["lmstudio/0.4", false],
    ["mlx/two-on-disk", false],
    ["tei/embedding", false],
    ["tgi/one-model", false],
    ["sglang/one-model", false],
    ["koboldcpp/one-model", false],
    ["whisper/ready", false],
    ["localai/imitates-ollama", false],
    ["lemonade/imitates-ollama", false],
  ])("%s answers an error for a name that it does not have: %s", async (fixture, refuses) => {
    expect((await reportOf(fixture)).refusesUnknown).toBe(refuses);
  });

  it("is never a state where the second GET brings nothing", () => {
    const list = { data: [{ id: "m" }] };
    for (const engine of ["localai", "lemonade", "jano"] as const) {
      for (const extra of [null, {}, "x", { loaded_models: 7, all_models_loaded: {}, currentModel: null }]) {
        expect(adapterFor(engine).parse(list, extra)?.models).toMatchObject([{ id: "m", state: "unknown" }]);
      }
    }
    for (const engine of ["sglang", "koboldcpp"] as const) {
      expect(adapterFor(engine).parse(list, null)?.models).toMatchObject([{ id: "m", state: "warm" }]);
    }
  });

  it("is no list where a server answers something else", () => {
    for (const engine of ENGINE_NAMES) {
      for (const main of [null, [], {}, "OK", { status: "error" }]) {
        expect([engine, adapterFor(engine).parse(main, null)]).toEqual([engine, null]);
      }
    }
  });

  it("leaves out what Lemonade lists as known but not loaded", () => {
    const health = { all_models_loaded: [{ model_name: "M", loaded: false }, { model_name: "n" }] };
    const report = adapterFor("lemonade").parse({ data: [{ id: "m" }, { id: "n" }] }, health);
    expect(report?.models.map((model) => model.state)).toEqual(["cold", "warm"]);
  });
});

describe("requests at once where an engine tells no number", () => {
  it("are one for those that answer one by one, and few for the others", () => {
    const one = ENGINE_NAMES.filter((engine) => adapterFor(engine).defaultSlots === 1);
    expect(one.sort()).toEqual(["jano", "koboldcpp", "ollama", "whisper"]);
    const others = ENGINE_NAMES.filter((engine) => !one.includes(engine));
    expect(new Set(others.map((engine) => adapterFor(engine).defaultSlots))).toEqual(new Set([4]));
  });
});
