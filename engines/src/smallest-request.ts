import type { EngineCall } from "./adapter.ts";
import type { CatalogModel } from "./catalog.ts";

/**
 * The smallest request that makes an engine load a model (`Adapter.loadsOnRequest`): one token of an answer, or one
 * word's embedding. Nothing but what every engine understands, and no option by which one would load it otherwise
 * than for its callers. null: for a model of this kind there is none (audio, images, reranking).
 */
export function smallestRequest({ id: model, kind, apis }: Pick<CatalogModel, "id" | "kind" | "apis">) {
  const serves = (api: "chat" | "completions" | "embeddings") => apis === null || apis.includes(api);
  if (kind === "embeddings") return serves("embeddings") ? call("/v1/embeddings", { model, input: "Hi" }) : null;
  if (kind !== "chat" && kind !== "vision") return null;
  const small = { max_tokens: 1, stream: false };
  if (serves("chat")) {
    return call("/v1/chat/completions", { model, messages: [{ role: "user", content: "Hi" }], ...small });
  }
  return serves("completions") ? call("/v1/completions", { model, prompt: "Hi", ...small }) : null;
}

function call(path: string, body: object): EngineCall {
  return { path, body, done: "answer" };
}
