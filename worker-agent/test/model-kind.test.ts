import { describe, expect, it } from "vitest";
import { guessKind } from "../src/model-kind.ts";

describe("the class of a model by its name", () => {
  it.each([
    ["nomic-embed-text", "embeddings"],
    ["BAAI/bge-m3", "embeddings"],
    ["bge-reranker-v2-m3", "rerank"],
    ["whisper-large-v3", "audio"],
    ["qwen3-coder-30b", "chat"],
    ["gemma-e5x", "chat"],
  ])("%s is %s", (name, kind) => {
    expect(guessKind([name])).toBe(kind);
  });
});
