import { describe, expect, it } from "vitest";
import { TranslationError } from "../../../src/translate/translation.ts";
import { put } from "./translated.ts";

const AT = { wallMs: 0, sinceSentMs: 12 };
const entry = (index: number, embedding: unknown) => ({ object: "embedding", index, embedding });
const embed = (body: Record<string, unknown>) => put("ollama-embed", "embeddings", body);

describe("texts to embed", () => {
  it("are put as they are, with the dimensions wanted; what belongs to the engine is left out", () => {
    const asked = embed({ input: ["a", "b"], dimensions: 64, truncate: false, keep_alive: 0, options: { num_ctx: 1 } });
    expect(asked.body).toEqual({ model: "worker/m", input: ["a", "b"], dimensions: 64, encoding_format: "float" });
    expect(embed({ input: "a" }).body).toEqual({ model: "worker/m", input: "a", encoding_format: "float" });
    for (const input of [[1, 2], { a: 1 }, 7]) {
      expect(() => embed({ input })).toThrow(expect.objectContaining({ code: "invalid_request", param: "input" }));
    }
  });

  it("come back in their order, with the tokens counted", () => {
    const answer = { data: [entry(1, [3, 4]), entry(0, [1, 2])], usage: { prompt_tokens: 6 } };
    expect(embed({ input: ["a", "b"] }).whole(answer, AT)).toEqual({
      model: "worker/m",
      embeddings: [
        [1, 2],
        [3, 4],
      ],
      total_duration: 12_000_000,
      load_duration: 0,
      prompt_eval_count: 6,
    });
    const packed = Buffer.from(new Float32Array([0.5, -1]).buffer).toString("base64");
    expect(embed({ input: "a" }).whole({ data: [{ embedding: packed }] }, AT)).toMatchObject({
      embeddings: [[0.5, -1]],
    });
  });

  it.each([
    {},
    { data: [] },
    { data: [entry(0, [1])] },
    { data: [entry(0, [1]), entry(0, [2])] },
    { data: [entry(0, [1]), entry(7, [2])] },
    { data: [entry(0, [1]), entry(1, null)] },
    { error: { message: "no" } },
  ])("are no answer where one has none: %j", (answer) => {
    expect(() => embed({ input: ["a", "b"] }).whole(answer, AT)).toThrow(TranslationError);
  });

  it("that are none load the model", () => {
    for (const input of ["", [], undefined, null]) {
      const asked = embed({ input });
      expect(asked.body).toMatchObject({ input: "Hi" });
      expect(asked.whole({ data: [entry(0, [1])] }, AT)).toMatchObject({ embeddings: [] });
    }
  });

  it("go by the older way one at a time", () => {
    const asked = put("ollama-embeddings", "embeddings", { prompt: "a" });
    expect(asked.body).toEqual({ model: "worker/m", input: "a", encoding_format: "float" });
    expect(asked.whole({ data: [entry(0, [1, 2])] }, AT)).toEqual({ embedding: [1, 2] });
    expect(put("ollama-embeddings", "embeddings", {}).whole({ data: [entry(0, [1])] }, AT)).toEqual({ embedding: [] });
  });
});
