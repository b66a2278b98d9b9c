import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { embeddingsToEmbed, embeddingsToOldEmbeddings } from "../../../src/translate/to-ollama/embeddings-to-embed.ts";
import { AT, CONTEXT } from "../../support/translate.ts";

function put(body: Record<string, unknown>) {
  return embeddingsToEmbed({ model: "m", input: "Hi", ...body }, CONTEXT);
}

interface List {
  data: { index: number; embedding: string }[];
}

describe("embeddings put to Ollama", () => {
  it("asks for all texts at once", () => {
    expect(put({ input: ["a", "b"], dimensions: 64, user: "u" }).body).toEqual({
      model: "worker-model",
      input: ["a", "b"],
      dimensions: 64,
    });
    expect(put({}).body).toEqual({ model: "worker-model", input: ["Hi"] });
  });

  it("tells the vectors in their order, with their usage", () => {
    const answer = { model: "m:latest", embeddings: [[1, 2], [3]], prompt_eval_count: 4 };
    expect(put({ input: ["a", "b"] }).whole(answer, AT)).toEqual({
      object: "list",
      data: [
        { object: "embedding", index: 0, embedding: [1, 2] },
        { object: "embedding", index: 1, embedding: [3] },
      ],
      model: "m:latest",
      usage: { prompt_tokens: 4, total_tokens: 4 },
    });
  });

  it("packs them as 32-bit floats, little-endian", () => {
    const vector = fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), { minLength: 1 });
    fc.assert(
      fc.property(vector, (values) => {
        const list = put({ encoding_format: "base64" }).whole({ embeddings: [values] }, AT) as List;
        const bytes = Buffer.from(list.data[0]?.embedding ?? "", "base64");
        const read = values.map((_, i) => bytes.readFloatLE(i * 4));
        expect(bytes.length).toBe(values.length * 4);
        expect(read).toEqual(values);
      }),
    );
  });

  it.each([
    ["tokens", { input: [1, 2] }, "not_supported"],
    ["lists of tokens", { input: [[1], [2]] }, "not_supported"],
    ["an empty text", { input: "" }, "invalid_request"],
    ["an empty text among others", { input: ["a", ""] }, "invalid_request"],
    ["nothing", { input: [] }, "invalid_request"],
    ["another packing", { encoding_format: "int8" }, "invalid_request"],
  ])("refuses %s", (_, body, code) => {
    expect(() => put(body)).toThrow(expect.objectContaining({ code }));
  });

  it.each([
    ["too few vectors", { embeddings: [] }],
    ["something else in place of a vector", { embeddings: ["x"] }],
    ["an error", { error: "no" }],
  ])("takes %s as a fault of the worker", (_, answer) => {
    expect(() => put({}).whole(answer, AT)).toThrow(expect.objectContaining({ name: "TranslationError" }));
  });

  it("asks an old Ollama for one text", () => {
    const old = embeddingsToOldEmbeddings({ model: "m", input: ["Hi"] }, CONTEXT);
    expect(old.body).toEqual({ model: "worker-model", prompt: "Hi" });
    expect(old.whole({ embedding: [0.5] }, AT)).toMatchObject({ data: [{ index: 0, embedding: [0.5] }] });
    expect(() => embeddingsToOldEmbeddings({ input: ["a", "b"] }, CONTEXT)).toThrow(/one text/);
    expect(() => embeddingsToOldEmbeddings({ input: "a", dimensions: 2 }, CONTEXT)).toThrow(/shorten/);
  });
});
