import { describe, expect, it } from "vitest";
import { tei } from "../src/tei.ts";

describe("Text Embeddings Inference", () => {
  it("publishes its one model from /info, under the name it serves", () => {
    const info = { model_id: "BAAI/bge-m3", model_type: { embedding: { pooling: "cls" } }, max_input_length: 8_192 };
    expect(tei.parse(info, null)).toMatchObject({
      models: [{ id: "BAAI/bge-m3", state: "warm", kind: "embeddings", apis: ["embeddings"], contextLength: 8_192 }],
      refusesUnknown: false,
    });
    expect(tei.parse({ ...info, served_model_name: "bge" }, null)?.models[0]?.id).toBe("bge");
  });

  it("offers its own form of rerank with a reranker, and nothing with a classifier", () => {
    const info = { model_id: "BAAI/bge-reranker", model_type: { reranker: {} } };
    expect(tei.parse(info, null)?.models).toMatchObject([{ kind: "rerank", apis: ["tei-rerank"] }]);
    const classifier = { model_id: "m", model_type: { classifier: {} } };
    expect(tei.parse(classifier, null)?.models).toMatchObject([{ kind: "classifier", apis: [] }]);
  });

  it.each([
    [429, '{"message":"Model is overloaded","code":429,"type":"overloaded"}', "busy"],
    [413, '{"message":"batch size 64 > maximum 32","code":413,"type":"Validation"}', "client_fault"],
    [422, '{"error":"inputs must have less than 512 tokens","error_type":"Validation"}', "client_fault"],
    [424, '{"error":"inference failed","error_type":"Backend"}', "worker_fault"],
  ])("%i %s: %s", (status, body, meaning) => {
    expect(tei.meaning({ status, body })).toBe(meaning);
  });
});
