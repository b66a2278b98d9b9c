import { type Figures, NO_FIGURES } from "../chat/figures.ts";

/** Tokens of a message. `input_tokens` are those that were computed, without what came from the engine's cache. */
export interface MessageUsage {
  input_tokens: number;
  cache_creation_input_tokens: number;
  cache_read_input_tokens: number;
  output_tokens: number;
}

/** Anthropic's callers expect numbers: what is not known is 0. */
export function messageUsage({ promptTokens, cachedTokens, answerTokens }: Figures): MessageUsage {
  const cached = cachedTokens ?? 0;
  return {
    input_tokens: Math.max(0, (promptTokens ?? 0) - cached),
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cached,
    output_tokens: answerTokens ?? 0,
  };
}

export const NO_USAGE: MessageUsage = messageUsage(NO_FIGURES);
