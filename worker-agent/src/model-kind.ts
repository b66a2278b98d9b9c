/** Name parts by which published models are told apart; a model whose name says nothing is a chat model. */
const KINDS: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ["rerank", /rerank/],
  ["embeddings", /embed|\bbge\b|\be5\b|\bgte\b|minilm/],
  ["audio", /whisper|parakeet|\btts\b|kokoro/],
];

/** The model class that `/v1/models` tells for a model: a guess from its names, which routing never uses. */
export function guessKind(names: readonly string[]): string {
  const text = names.join(" ").toLowerCase();
  return KINDS.find(([, pattern]) => pattern.test(text))?.[0] ?? "chat";
}
