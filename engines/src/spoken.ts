import type { Api } from "@farmgate/shared";
import type { EngineName } from "./catalog.ts";

const TEXT = ["chat", "completions", "embeddings", "responses"] as const;
const LLAMA_CPP = ["completion", "infill", "tokenize", "detokenize", "apply-template"] as const;
const ANTHROPIC = ["messages", "count-tokens"] as const;
const OLLAMA = ["ollama-chat", "ollama-generate", "ollama-embed", "ollama-embeddings"] as const;
const AUDIO = ["transcriptions", "translations", "speech"] as const;
const IMAGES = ["image-generations", "image-edits", "image-variations"] as const;

/**
 * The APIs that each engine speaks itself, in its newest release that was read. An older one that lacks one answers 404
 * for it, which sets that pair aside for that API; another way to put the same question is tried then.
 * Ollama's API is named for Ollama alone: those who imitate it (LocalAI, Lemonade, SGLang, KoboldCpp) leave out streams,
 * tools or pictures, and a question put as one of the APIs that are their own keeps all of these. `/tokenize` of vLLM
 * and SGLang has the name of llama.cpp's, but another form.
 * A server that is not known further may have all that OpenAI has.
 */
const SPOKEN: Readonly<Record<Exclude<EngineName, "agent">, readonly Api[]>> = {
  "llama-server": [...TEXT, "rerank", "transcriptions", ...ANTHROPIC, ...LLAMA_CPP],
  "llama-swap": [
    ...TEXT,
    "rerank",
    "transcriptions",
    "speech",
    "image-generations",
    "image-edits",
    ...ANTHROPIC,
    "completion",
    "infill",
  ],
  ollama: [...TEXT, "transcriptions", "image-generations", "image-edits", "messages", ...OLLAMA],
  vllm: [...TEXT, "rerank", "transcriptions", "translations", "realtime", ...ANTHROPIC],
  sglang: [...TEXT, "rerank", "transcriptions", "messages"],
  lmstudio: [...TEXT, "messages"],
  localai: [...TEXT, "rerank", "realtime", "transcriptions", "speech", "image-generations", "messages"],
  lemonade: [...TEXT, "rerank", "realtime", "transcriptions", "speech", ...IMAGES, "messages"],
  mlx: ["chat", "completions"],
  tgi: ["chat", "completions"],
  koboldcpp: ["chat", "completions", "embeddings", "transcriptions", "speech", "image-generations"],
  jano: ["chat"],
  tei: ["embeddings", "tei-rerank"],
  // Its own path is another one, unless its owner has set it to OpenAI's.
  whisper: ["transcriptions", "inference"],
  openai: [...TEXT, "rerank", "realtime", ...AUDIO, ...IMAGES],
};

const SETS: ReadonlyMap<string, ReadonlySet<Api>> = new Map(
  Object.entries(SPOKEN).map(([engine, apis]) => [engine, new Set(apis)]),
);
const GENERIC: ReadonlySet<Api> = new Set(SPOKEN.openai);

/**
 * What an engine may speak of which nothing is known yet, since its model was never loaded: all that OpenAI has, and
 * llama.cpp's own paths, which no other question can stand for. Anthropic's can be put as a chat, which is safe.
 */
export const MAYBE_SPOKEN: ReadonlySet<Api> = new Set([...SPOKEN.openai, ...LLAMA_CPP]);

/**
 * The APIs that an engine speaks, where its model does not tell its own. null: not recognised; it is spoken to as any
 * OpenAI-like server, and so is an agent that does not say what its model speaks.
 */
export function spokenBy(engine: EngineName | null): ReadonlySet<Api> {
  return SETS.get(engine ?? "openai") ?? GENERIC;
}
