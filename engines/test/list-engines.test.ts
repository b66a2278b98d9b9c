import { describe, expect, it } from "vitest";
import { mlx } from "../src/mlx.ts";
import { openai } from "../src/openai.ts";
import { vllm } from "../src/vllm.ts";
import { recordedJson } from "./recorded-answer.ts";

describe("vLLM", () => {
  it("has loaded what it lists, LoRA adapters included", () => {
    const cards = [
      { id: "Qwen/Qwen3-8B", owned_by: "vllm", max_model_len: 32_768, parent: null },
      { id: "sql-lora", owned_by: "vllm", max_model_len: null, parent: "Qwen/Qwen3-8B" },
    ];
    expect(vllm.parse({ object: "list", data: cards }, null)).toMatchObject({
      models: [
        { id: "Qwen/Qwen3-8B", state: "warm", contextLength: 32_768 },
        { id: "sql-lora", state: "warm", contextLength: null },
      ],
      refusesUnknown: true,
    });
  });

  it.each([
    [404, '{"error":{"message":"The model `x` does not exist.","type":"NotFoundError","code":404}}', "unknown_model"],
    [400, '{"object":"error","message":"maximum context length is 8 tokens","type":"BadRequestError"}', "client_fault"],
    [401, '{"error":"Unauthorized"}', "unknown_model"],
    [500, '{"error":{"message":"engine died","type":"InternalServerError","code":500}}', "worker_fault"],
  ])("%i %s: %s", (status, body, meaning) => {
    expect(vllm.meaning({ status, body })).toBe(meaning);
  });
});

describe("any OpenAI server", () => {
  it("lists names and cannot say what is loaded", () => {
    const report = openai.parse({ data: [{ id: "m", owned_by: "someone" }, { id: "text-embedding-3" }] }, null);
    expect(report?.models).toMatchObject([
      { id: "m", state: "unknown", kind: "chat" },
      { id: "text-embedding-3", state: "unknown", kind: "embeddings" },
    ]);
    expect(report?.refusesUnknown).toBe(true);
  });

  it("does not count as refusing names where its owner line gives away a single-model server", () => {
    expect(openai.parse(recordedJson("single-models"), null)?.refusesUnknown).toBe(false);
    expect(openai.parse(recordedJson("router-models-initial"), null)?.refusesUnknown).toBe(true);
    expect(openai.parse({ data: [{ id: "m", owned_by: "koboldcpp" }] }, null)?.refusesUnknown).toBe(false);
  });

  it("may have no models, but must have a list", () => {
    expect(openai.parse({ data: null }, null)?.models).toEqual([]);
    for (const main of [null, "x", [], {}, { data: {} }]) expect(openai.parse(main, null)).toBeNull();
  });

  it("knows an unknown model by code or words, whatever the status", () => {
    expect(openai.meaning({ status: 400, body: '{"error":{"message":"no","code":"model_not_found"}}' })).toBe(
      "unknown_model",
    );
    expect(openai.meaning({ status: 400, body: '{"error":"The model \'x\' does not exist"}' })).toBe("unknown_model");
    expect(openai.meaning({ status: 400, body: '{"error":"temperature must not be 9"}' })).toBe("client_fault");
  });
});

describe("mlx", () => {
  it("lists what the disk has and neither refuses nor tells", () => {
    const report = mlx.parse({ object: "list", data: [{ id: "mlx-community/Qwen3-4B-4bit" }] }, null);
    expect(report).toMatchObject({
      models: [{ state: "unknown", apis: null }],
      refusesUnknown: false,
    });
    expect(mlx.swapsUnseen).toBe(true);
  });

  it("sets a pair aside for its 404, which also stands for a failed load", () => {
    expect(mlx.meaning({ status: 404, body: '{"error":"No safetensors found"}' })).toBe("unknown_model");
  });
});
