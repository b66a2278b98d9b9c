import type { Api } from "@farmgate/shared";
import { countTokensToChat } from "./anthropic/count-tokens-to-chat.ts";
import { messagesToChat } from "./anthropic/messages-to-chat.ts";
import { ollamaChatToChat } from "./ollama/chat.ts";
import { ollamaEmbeddingsToEmbeddings, ollamaEmbedToEmbeddings } from "./ollama/embed.ts";
import { ollamaGenerateToChat, ollamaGenerateToCompletions, ollamaGenerateToInfill } from "./ollama/generate.ts";
import { rerankToTei } from "./rerank-to-tei.ts";
import { responsesToChat } from "./responses/responses-to-chat.ts";
import { through } from "./through.ts";
import { chatToOllama } from "./to-ollama/chat-to-ollama.ts";
import { completionsToGenerate } from "./to-ollama/completions-to-generate.ts";
import { embeddingsToEmbed, embeddingsToOldEmbeddings } from "./to-ollama/embeddings-to-embed.ts";
import type { Translator } from "./translation.ts";

/** How each API can be put as others, best first. */
const TRANSLATORS: Readonly<Partial<Record<Api, readonly (readonly [to: Api, translator: Translator])[]>>> = {
  messages: [
    ["chat", messagesToChat],
    ["ollama-chat", through(messagesToChat, chatToOllama)],
  ],
  "count-tokens": [
    ["chat", countTokensToChat],
    ["ollama-chat", through(countTokensToChat, chatToOllama)],
  ],
  chat: [["ollama-chat", chatToOllama]],
  completions: [["ollama-generate", completionsToGenerate]],
  responses: [
    ["chat", responsesToChat],
    ["ollama-chat", through(responsesToChat, chatToOllama)],
  ],
  embeddings: [
    ["ollama-embed", embeddingsToEmbed],
    ["ollama-embeddings", embeddingsToOldEmbeddings],
  ],
  rerank: [["tei-rerank", rerankToTei]],
  "ollama-chat": [["chat", ollamaChatToChat]],
  "ollama-generate": [
    ["chat", ollamaGenerateToChat],
    ["infill", ollamaGenerateToInfill],
    ["completions", ollamaGenerateToCompletions],
  ],
  "ollama-embed": [["embeddings", ollamaEmbedToEmbeddings]],
  "ollama-embeddings": [["embeddings", ollamaEmbeddingsToEmbeddings]],
};

const WAYS: ReadonlyMap<string, readonly Api[]> = new Map(
  Object.entries(TRANSLATORS).map(([api, others]) => [api, [api as Api, ...others.map(([to]) => to)]]),
);
const ONLY = new Map<Api, readonly Api[]>();

/** The APIs as which a question can be put to a worker: its own, then its translations. Always the same array. */
export function waysOf(api: Api): readonly Api[] {
  const ways = WAYS.get(api) ?? ONLY.get(api) ?? [api];
  if (!WAYS.has(api)) ONLY.set(api, ways);
  return ways;
}

/** What puts `from` as `to`, one of its ways; null: the two are the same. */
export function translatorTo(from: Api, to: Api): Translator | null {
  return TRANSLATORS[from]?.find(([other]) => other === to)?.[1] ?? null;
}
