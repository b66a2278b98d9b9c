import type { ServedModel } from "../served-model.ts";

/** The smallest request that a model of its kind answers: an engine that loads on request loads it for that. */
export function smallestRequest({ kind, engineName: model }: ServedModel): { path: string; body: object } {
  if (kind === "embeddings") return { path: "/v1/embeddings", body: { model, input: "Hi" } };
  if (kind === "rerank") return { path: "/v1/rerank", body: { model, query: "Hi", documents: ["Hi"] } };
  const messages = [{ role: "user", content: "Hi" }];
  return { path: "/v1/chat/completions", body: { model, messages, max_tokens: 1, stream: false } };
}
