import { describe, expect, it } from "vitest";
import { lmstudio } from "../src/lmstudio.ts";

const instance = (id: string, parallel?: number) => ({ id, config: { context_length: 8_192, parallel } });

describe("LM Studio's catalogue", () => {
  it("is warm for what has an instance, under each instance's name, with the slots of all", () => {
    const models = [
      {
        key: "qwen/qwen3-8b",
        type: "llm",
        loaded_instances: [instance("qwen/qwen3-8b", 4), instance("qwen/qwen3-8b:2", 2)],
        max_context_length: 40_960,
        capabilities: { vision: false, trained_for_tool_use: true, reasoning: { allowed_options: ["off", "on"] } },
      },
      { key: "qwen/vl", type: "llm", loaded_instances: [], max_context_length: 4_096, capabilities: { vision: true } },
      { key: "nomic", type: "embedding", loaded_instances: [] },
    ];
    expect(lmstudio.parse({ models }, null)).toMatchObject({
      models: [
        {
          id: "qwen/qwen3-8b",
          aliases: ["qwen/qwen3-8b:2"],
          state: "warm",
          contextLength: 8_192,
          slots: 6,
          capabilities: ["tools", "thinking"],
        },
        { id: "qwen/vl", state: "cold", contextLength: 4_096, kind: "vision", slots: null, capabilities: ["vision"] },
        { id: "nomic", state: "cold", kind: "embeddings", apis: ["embeddings"] },
      ],
      refusesUnknown: false,
    });
  });

  it("is read from an older release", () => {
    const data = [
      { id: "a", type: "llm", state: "loaded", max_context_length: 32_768, loaded_context_length: 4_096 },
      { id: "b", type: "vlm", state: "not-loaded", max_context_length: 32_768 },
      { id: "c", type: "embeddings", state: "thinking" },
    ];
    expect(lmstudio.parse({ object: "list", data }, null)?.models).toMatchObject([
      { id: "a", state: "warm", contextLength: 4_096 },
      { id: "b", state: "cold", kind: "vision" },
      { id: "c", state: "unknown", kind: "embeddings" },
    ]);
  });

  it("is none in another form", () => {
    for (const main of [null, {}, { error: "Unexpected endpoint" }, { models: {} }]) {
      expect(lmstudio.parse(main, null)).toBeNull();
    }
  });
});

describe("what LM Studio's answer means", () => {
  it("tells a failed load and an empty server apart", () => {
    const failed = '{"error":{"message":"Failed to load model \\"x\\". Insufficient memory"}}';
    expect(lmstudio.meaning({ status: 400, body: failed })).toBe("load_failed");
    const empty = '{"error":{"message":"No models loaded.","param":"model","type":"invalid_request_error"}}';
    expect(lmstudio.meaning({ status: 404, body: empty })).toBe("unknown_model");
  });
});
