import type { Api } from "@farmgate/shared";
import type { Usage } from "../proxy/usage-tap.ts";
import { tokensOf } from "../tokens-of-bytes.ts";

/** APIs that are asked in tokens; of those that answer in tokens too, what is between the events of a stream. */
const ANSWERS: Partial<Record<Api, "tokens" | "none">> = {
  chat: "tokens",
  completions: "tokens",
  responses: "tokens",
  messages: "tokens",
  completion: "tokens",
  infill: "tokens",
  "ollama-chat": "tokens",
  "ollama-generate": "tokens",
  embeddings: "none",
  rerank: "none",
  "ollama-embed": "none",
  "ollama-embeddings": "none",
};

/** A body with pictures is large, and few tokens. */
const MOST_ESTIMATED = 32_768;

export interface SeenAnswer {
  api: Api;
  /** As the engine counted; null: it did not tell. */
  usage: Usage | null;
  /** Of the request's body; 0: not known. */
  bytes: number;
  /** Events, or lines, of its stream; null: it was none, or there was no answer. */
  events: number | null;
  /** Of the answers of this model so far; what a request that was not answered would have got. */
  usualOutput: number;
}

export interface TokenCounts {
  input: number;
  output: number;
  /** A count is a guess. */
  isEstimated: boolean;
}

/** How much a request was; null: what its API asks for is not made of tokens. */
export function tokenCounts({ api, usage, bytes, events, usualOutput }: SeenAnswer): TokenCounts | null {
  const answers = ANSWERS[api];
  if (answers === undefined) return null;
  const input = usage?.prompt ?? null;
  const output = answers === "none" ? 0 : (usage?.completion ?? null);
  return {
    input: input ?? Math.min(MOST_ESTIMATED, Math.ceil(tokensOf(bytes))),
    output: output ?? events ?? usualOutput,
    isEstimated: input === null || output === null,
  };
}
