import type { ApiFamily } from "./error-envelope.ts";

/** What a caller asks for, whichever path spelled it. */
export type Api = "chat" | "completions" | "embeddings" | "rerank" | "responses";

const INFERENCE_PATHS: ReadonlyMap<string, Api> = new Map([
  ["/v1/chat/completions", "chat"],
  ["/v1/completions", "completions"],
  ["/v1/embeddings", "embeddings"],
  ["/v1/rerank", "rerank"],
  ["/v1/responses", "responses"],
]);

const EVENT_STREAMS: ReadonlySet<Api> = new Set<Api>(["chat", "completions", "responses"]);

/** The API of an inference path (without query), or null for every other path. */
export function inferenceApi(path: string): Api | null {
  return INFERENCE_PATHS.get(path) ?? null;
}

/** Whether a streamed answer is one of server-sent events: Ollama's own are lines of JSON, and some APIs have none. */
export function streamsEvents(api: Api, family: ApiFamily): boolean {
  return family !== "ollama" && EVENT_STREAMS.has(api);
}

/** Whose error shape a path's callers expect. */
export function apiFamily(path: string): ApiFamily {
  if (path.startsWith("/api/")) return "ollama";
  return path === "/v1/messages" || path.startsWith("/v1/messages/") ? "anthropic" : "openai";
}
