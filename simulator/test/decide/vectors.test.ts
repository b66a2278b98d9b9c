import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Body } from "../../src/decide/answer-plan.ts";
import { type EngineModel, engineOptionsSchema } from "../../src/decide/options.ts";
import { planEmbeddings, planRerank } from "../../src/decide/vectors.ts";

const models = engineOptionsSchema.parse({
  models: [{ name: "emb", kind: "embedding", contextLength: 512 }, { name: "rank", kind: "rerank" }, "chat"],
}).models;
function named(name: string): EngineModel {
  const found = models.find((model) => model.name === name);
  if (found === undefined) throw new Error(`no model ${name}`);
  return found;
}

interface Embedded {
  data: { index: number; embedding: number[] | string }[];
  usage: { prompt_tokens: number };
}
function embed(body: Body): Embedded {
  const plan = planEmbeddings(body, named("emb"));
  if (!("body" in plan)) throw new Error(plan.message);
  return JSON.parse(plan.body) as Embedded;
}

test("embeddings are unit vectors that depend on the text alone", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.integer({ min: 1, max: 1_024 }), (input, dimensions) => {
      const vector = embed({ input, dimensions }).data[0]?.embedding as number[];
      expect(vector).toHaveLength(dimensions);
      expect(Math.hypot(...vector)).toBeCloseTo(1, 4);
      const batch = embed({ input: ["other", input], dimensions });
      expect(batch.data[1]?.embedding).toEqual(vector);
    }),
  );
  expect(embed({ input: "a" }).data).not.toEqual(embed({ input: "b" }).data);
});

test("base64 carries the same numbers", () => {
  const plain = embed({ input: "hello" }).data[0]?.embedding as number[];
  const packed = Buffer.from(
    embed({ input: "hello", encoding_format: "base64" }).data[0]?.embedding as string,
    "base64",
  );
  expect(packed.length).toBe(plain.length * 4);
  expect(plain.map((_, i) => packed.readFloatLE(i * 4))).toEqual(plain);
});

test("a list of token ids is one input, a list of such lists several", () => {
  expect(embed({ input: [1, 2, 3] })).toMatchObject({ data: [{ index: 0 }], usage: { prompt_tokens: 3 } });
  expect(embed({ input: [[1, 2], [3]] }).data).toHaveLength(2);
});

test("what an engine cannot do it says as llama-server does", () => {
  expect(planEmbeddings({ input: "x" }, named("chat"))).toMatchObject({ status: 501, type: "not_supported_error" });
  expect(planEmbeddings({}, named("emb"))).toMatchObject({ status: 400 });
  expect(planEmbeddings({ input: "x".repeat(4_000) }, named("emb"))).toMatchObject({ status: 500 });
  expect(planRerank({ query: "x", documents: ["y"] }, named("emb"))).toMatchObject({ status: 501 });
  expect(planRerank({ query: "x" }, named("rank"))).toMatchObject({ status: 400 });
});

test("the document with more of the query's words comes first", () => {
  const body = { query: "green garden", documents: ["a river", { text: "a green garden" }, "a garden"], top_n: 2 };
  const plan = planRerank(body, named("rank"));
  const { results } = JSON.parse("body" in plan ? plan.body : "{}") as { results: unknown };
  expect(results).toEqual([
    { index: 1, relevance_score: 1 },
    { index: 2, relevance_score: 0.5 },
  ]);
  const bare = planRerank({ query: "green", texts: ["red", "green"] }, named("rank"));
  expect(JSON.parse("body" in bare ? bare.body : "{}")).toEqual([
    { index: 1, score: 1 },
    { index: 0, score: 0 },
  ]);
});
