import type { EngineName } from "@farmgate/engines";
import { nameKey, parseJson } from "@farmgate/shared";
import { z } from "zod";

const figure = z.number().finite().positive().nullish().catch(null);

/** The part of an engine's `/v1/models` that matters here; Ollama without models sends `data: null`. */
const listSchema = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      aliases: z.array(z.string()).nullish().catch(null),
      status: z.object({ value: z.string() }).nullish().catch(null),
      owned_by: z.string().nullish().catch(null),
      meta: z.object({ n_ctx: figure }).nullish().catch(null),
      max_model_len: figure,
    }),
  ),
});

/**
 * Whether an engine's `/v1/models` names the model as one that it serves now. Where the list carries a status
 * (llama-server's router) the model must be loaded, or asleep, which its next request ends.
 */
export function namesModel(body: string, engineName: string): boolean {
  const entry = entryOf(body, engineName);
  if (entry === null) return false;
  const status = entry.status?.value;
  return status === undefined || status === "loaded" || status === "sleeping";
}

/** What an engine tells of itself and of a loaded model; null while unknown. */
export interface EngineFacts {
  engine: EngineName | null;
  /** Tokens that one request gets. */
  contextLength: number | null;
}

/** Who signs an engine's list, and what Farmgate calls that engine. */
const SIGNATURES: Readonly<Record<string, EngineName>> = {
  llamacpp: "llama-server",
  vllm: "vllm",
  sglang: "sglang",
  "llama-swap": "llama-swap",
  koboldcpp: "koboldcpp",
  jano: "jano",
};

/** Reads them from the engine's `/v1/models` (llama-server: `meta.n_ctx`, vLLM: `max_model_len`). */
export function factsOf(body: string, engineName: string): EngineFacts {
  const entry = entryOf(body, engineName);
  return {
    engine: SIGNATURES[entry?.owned_by ?? ""] ?? null,
    contextLength: entry?.meta?.n_ctx ?? entry?.max_model_len ?? null,
  };
}

function entryOf(body: string, engineName: string) {
  const list = listSchema.safeParse(parseJson(body));
  if (!list.success) return null;
  const key = nameKey(engineName);
  const isNamed = (name: string) => nameKey(name) === key;
  return list.data.data.find(({ id, aliases }) => isNamed(id) || aliases?.some(isNamed)) ?? null;
}
