import { describe, expect, it } from "vitest";
import { ollama } from "../src/ollama.ts";

const tags = {
  models: [
    {
      name: "llama3.2:latest",
      model: "llama3.2:latest",
      size: 2_019_393_189,
      details: { family: "llama", context_length: 131_072 },
      capabilities: ["completion", "tools"],
    },
    { name: "nomic-embed-text:latest", details: {}, capabilities: ["embedding"] },
    { name: "llava:7b", capabilities: ["completion", "vision"] },
    { name: "gpt-oss:120b-cloud", remote_host: "https://cloud.test", capabilities: ["completion"] },
  ],
};
const ps = { models: [{ name: "LLAMA3.2", size_vram: 1, context_length: 4_096 }, { name: "gpt-oss:120b-cloud" }] };

describe("Ollama's catalogue", () => {
  const apis = null;

  it("is warm for what runs, with the context that it runs with, and cold for the rest", () => {
    expect(ollama.parse(tags, ps)?.models).toMatchObject([
      { id: "llama3.2:latest", state: "warm", contextLength: 4_096, kind: "chat", apis, capabilities: ["tools"] },
      {
        id: "nomic-embed-text:latest",
        state: "cold",
        kind: "embeddings",
        apis: ["embeddings", "ollama-embed", "ollama-embeddings"],
      },
      { id: "llava:7b", state: "cold", kind: "vision", apis, capabilities: ["vision"] },
      { id: "gpt-oss:120b-cloud", state: "cold" },
    ]);
  });

  it("cannot say what is loaded without /api/ps", () => {
    for (const extra of [null, {}, "x", { models: 7 }]) {
      expect(ollama.parse(tags, extra)?.models.map((model) => model.state)).toEqual([
        "unknown",
        "unknown",
        "unknown",
        "cold",
      ]);
    }
  });

  it("may be empty", () => {
    expect(ollama.parse({ models: null }, { models: null })?.models).toEqual([]);
    expect(ollama.parse({ models: [] }, null)).toMatchObject({ models: [], refusesUnknown: true });
  });

  it("is none without a list", () => {
    for (const main of [null, [], {}, { models: "x" }, { data: [] }]) expect(ollama.parse(main, ps)).toBeNull();
  });
});

describe("what Ollama's answer means", () => {
  it.each([
    [404, '{"error":"model \'x\' not found"}', "unknown_model"],
    [404, '{"error":{"message":"model \'x\' not found","type":"not_found_error"}}', "unknown_model"],
    [400, '{"error":"registry.ollama.ai/library/m does not support tools"}', "client_fault"],
    [503, '{"error":"server busy, please try again.  maximum pending requests exceeded"}', "busy"],
    [500, '{"error":"this model is missing data required for image input"}', "client_fault"],
    [500, '{"error":"model requires more system memory (9 GiB) than is available (3 GiB)"}', "load_failed"],
    [500, '{"error":"llama runner process has terminated: exit status 2"}', "load_failed"],
    [500, '{"error":"unable to load model: /models/x"}', "load_failed"],
    [500, '{"error":"an unexpected thing"}', "worker_fault"],
  ])("%i %s: %s", (status, body, meaning) => {
    expect(ollama.meaning({ status, body })).toBe(meaning);
  });
});
