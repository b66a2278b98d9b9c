import { seededRandom } from "@farmgate/shared";
import type { Body } from "./answer-plan.ts";
import { digestOf, seedOf } from "./digest.ts";
import { type EngineError, engineError } from "./engine-error.ts";
import type { EngineModel } from "./options.ts";
import { textsOf } from "./prompt.ts";
import { tokensOf } from "./tokens.ts";
import type { JsonPlan } from "./whole-plan.ts";

const DIMENSIONS = 384;
const MOST_DIMENSIONS = 8_192;

/** `/v1/embeddings`: unit vectors that depend on model, text and `dimensions` alone. */
export function planEmbeddings(body: Body, model: EngineModel): JsonPlan | EngineError {
  if (model.kind !== "embedding") {
    return engineError(501, "This server does not support embeddings. Start it with `--embeddings`");
  }
  const input = body["input"] ?? body["content"];
  if (input === undefined) return engineError(400, '"input" or "content" must be provided');
  const texts = textsOf(input);
  const counts = texts.map(tokensOf);
  const longest = Math.max(0, ...counts);
  if (longest > model.contextLength) {
    const message = `input (${longest} tokens) is too large to process. increase the physical batch size (current batch size: ${model.contextLength})`;
    return engineError(500, message);
  }
  const wanted = body["dimensions"];
  const dimensions = typeof wanted === "number" && wanted >= 1 ? Math.min(wanted, MOST_DIMENSIONS) : DIMENSIONS;
  const base64 = body["encoding_format"] === "base64";
  const promptTokens = counts.reduce((sum, count) => sum + count, 0);
  const data = texts.map((text, index) => {
    const vector = unitVector(digestOf(model.name, text), dimensions);
    if (!base64) return { embedding: [...vector], index, object: "embedding" };
    const embedding = Buffer.from(vector.buffer).toString("base64");
    return { embedding, index, object: "embedding", encoding_format: "base64" };
  });
  const usage = { prompt_tokens: promptTokens, total_tokens: promptTokens };
  return { promptTokens, body: JSON.stringify({ model: model.name, object: "list", usage, data }) };
}

/** `/v1/rerank`: the share of the query's words that a document has. `texts` in place of `documents` answers a bare list. */
export function planRerank(body: Body, model: EngineModel): JsonPlan | EngineError {
  if (model.kind !== "rerank") {
    return engineError(501, "This server does not support reranking. Start it with `--reranking`");
  }
  const bare = Array.isArray(body["texts"]);
  const documents = bare ? body["texts"] : body["documents"];
  if (typeof body["query"] !== "string") return engineError(400, '"query" must be provided');
  if (!Array.isArray(documents) || documents.length === 0) {
    return engineError(400, '"documents" must be a non-empty string array');
  }
  const query = body["query"];
  const texts = documents.map(documentText);
  const promptTokens = texts.reduce((sum, text) => sum + tokensOf(query) + tokensOf(text), 0);
  const top = typeof body["top_n"] === "number" ? body["top_n"] : texts.length;
  const ranked = texts
    .map((text, index) => ({ index, score: overlap(query, text) }))
    .sort((a, b) => b.score - a.score || a.index - b.index)
    .slice(0, top);
  if (bare) return { promptTokens, body: JSON.stringify(ranked) };
  const usage = { prompt_tokens: promptTokens, total_tokens: promptTokens };
  const results = ranked.map(({ index, score }) => ({ index, relevance_score: score }));
  return { promptTokens, body: JSON.stringify({ model: model.name, object: "list", usage, results }) };
}

function unitVector(digest: string, dimensions: number): Float32Array<ArrayBuffer> {
  const random = seededRandom(seedOf(digest));
  const vector = Float32Array.from({ length: dimensions }, () => random() * 2 - 1);
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
}

function overlap(query: string, text: string): number {
  const words = new Set(wordsOf(query));
  const found = new Set(wordsOf(text).filter((word) => words.has(word)));
  return words.size === 0 ? 0 : found.size / words.size;
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

function documentText(document: unknown): string {
  if (typeof document === "string") return document;
  const { text } = (document ?? {}) as Body;
  return typeof text === "string" ? text : JSON.stringify(document);
}
