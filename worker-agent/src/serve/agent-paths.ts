/** The inference paths whose body is JSON; they go to the engine as they are. */
const JSON_PATHS: ReadonlySet<string> = new Set([
  "/v1/chat/completions",
  "/v1/completions",
  "/v1/embeddings",
  "/v1/responses",
  "/v1/rerank",
  "/rerank",
  "/v1/audio/speech",
  "/v1/images/generations",
  "/v1/messages",
  "/v1/messages/count_tokens",
]);

/** The inference paths whose body is a form. */
const FORM_PATHS: ReadonlySet<string> = new Set([
  "/v1/audio/transcriptions",
  "/v1/audio/translations",
  "/v1/images/edits",
  "/v1/images/variations",
]);

/** How a path's body is to be read; null: no inference path. */
export function inferenceBody(path: string): "json" | "form" | null {
  if (JSON_PATHS.has(path)) return "json";
  return FORM_PATHS.has(path) ? "form" : null;
}
