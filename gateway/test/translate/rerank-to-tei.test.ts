import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rerankToTei } from "../../src/translate/rerank-to-tei.ts";
import { AT, CONTEXT } from "../support/translate.ts";

function put(body: Record<string, unknown>) {
  return rerankToTei({ model: "m", query: "q", documents: ["a", "b", "c"], ...body }, CONTEXT);
}

describe("a rerank put to Text Embeddings Inference", () => {
  it("sends the texts of its documents", () => {
    const documents = ["a", { text: "b" }];
    expect(put({ documents, top_n: 1 }).body).toEqual({ model: "worker-model", query: "q", texts: ["a", "b"] });
  });

  it("tells the best ones first, no more than asked for, with their texts when asked", () => {
    const answer = [
      { index: 2, score: 0.9 },
      { index: 0, score: 0.1 },
    ];
    expect(put({}).whole(answer, AT)).toEqual({
      model: "worker-model",
      object: "list",
      results: [
        { index: 2, relevance_score: 0.9 },
        { index: 0, relevance_score: 0.1 },
      ],
    });
    expect(put({ top_n: 1, return_documents: true }).whole(answer, AT)).toMatchObject({
      results: [{ index: 2, document: { text: "c" } }],
    });
  });

  it("keeps every score, whatever it is", () => {
    const scores = fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { minLength: 1 });
    fc.assert(
      fc.property(scores, (values) => {
        const documents = values.map((_, i) => `text ${i}`);
        const answer = values.map((score, index) => ({ index, score }));
        const { results } = put({ documents }).whole(answer, AT) as { results: { relevance_score: number }[] };
        expect(results.map((result) => result.relevance_score)).toEqual(values);
      }),
    );
  });

  it.each([
    ["no query", { query: undefined }],
    ["no documents", { documents: undefined }],
    ["a document without a text", { documents: [{}] }],
  ])("calls %s wrong", (_, body) => {
    expect(() => put(body)).toThrow(expect.objectContaining({ code: "invalid_request" }));
  });

  it("takes an answer of another form as a fault of the worker", () => {
    for (const answer of [{ results: [] }, [{ index: 0 }], ["a"]]) {
      expect(() => put({}).whole(answer, AT)).toThrow(expect.objectContaining({ name: "TranslationError" }));
    }
  });
});
