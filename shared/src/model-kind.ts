/**
 * What a model is for, guessed from its name where nothing better is known: `chat`, `embeddings`, `rerank` or
 * `audio`. For display only, never for routing.
 */
export function kindOfName(name: string): string {
  const lower = name.toLowerCase();
  if (lower.includes("rerank")) return "rerank";
  if (/embed|(^|[/_-])(bge|gte|e5)[_-]/.test(lower)) return "embeddings";
  if (/whisper|(^|[/_-])tts([_-]|$)/.test(lower)) return "audio";
  return "chat";
}
