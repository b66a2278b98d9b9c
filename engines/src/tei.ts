import { z } from "zod";
import type { CatalogModel } from "./catalog.ts";
import { type Adapter, PLAIN } from "./adapter.ts";
import { meaningOf } from "./meaning.ts";
import { catalogModel, catalogReport, figure, maybeText, modelName, slotsOf, textOrNull } from "./read-model.ts";

const info = z.object({
  model_id: modelName,
  served_model_name: modelName.nullish().catch(null),
  /** A word in some releases, `{"embedding": {...}}` in others. */
  model_type: z.unknown().optional(),
  model_sha: maybeText,
  max_input_length: figure,
  max_concurrent_requests: figure,
});

/**
 * Text Embeddings Inference: one model, always loaded, any name accepted, no list but `/info`.
 * Of Farmgate's paths it has `/v1/embeddings` alone; its rerank is of another form, and its predict is not served.
 */
export const tei: Adapter = {
  ...PLAIN,
  engine: "tei",
  catalogPath: "/info",
  parse(main) {
    const parsed = info.safeParse(main);
    if (!parsed.success) return null;
    const { model_id: id, served_model_name: served, model_type: type } = parsed.data;
    const contextLength = parsed.data.max_input_length ?? null;
    const digest = textOrNull(parsed.data.model_sha);
    const model = catalogModel(served ?? id, "warm", { contextLength, digest, ...byType(type) });
    return catalogReport([model], { refusesUnknown: false, slots: slotsOf(parsed.data.max_concurrent_requests) });
  },
  meaning: (answer) => meaningOf(answer, []),
};

function byType(type: unknown): Pick<CatalogModel, "kind" | "apis"> {
  const word = typeof type === "object" && type !== null ? Object.keys(type)[0] : type;
  if (word === "reranker") return { kind: "rerank", apis: ["tei-rerank"] };
  if (word === "classifier") return { kind: "classifier", apis: [] };
  return { kind: "embeddings", apis: ["embeddings"] };
}
