import { z } from "zod";
import type { Adapter } from "./adapter.ts";
import { type MeaningRule, meaningOf } from "./meaning.ts";
import { catalogModel, catalogReport, figure, modelName, readList } from "./read-model.ts";

const list = z.object({ data: z.unknown().optional() });
const card = z.object({ id: modelName, max_model_len: figure });

const RULES: readonly MeaningRule[] = [{ type: "NotFoundError", meaning: "unknown_model" }];

/** vLLM: what it lists is loaded (while loading nothing listens). Sleep mode shows only in its development mode. */
export const vllm: Adapter = {
  engine: "vllm",
  catalogPath: "/v1/models",
  olderCatalogPath: null,
  extraPath: null,
  livenessPath: "/health",
  swapsUnseen: false,
  parse(main) {
    const parsed = list.safeParse(main);
    if (!parsed.success || parsed.data.data === undefined) return null;
    const models = readList(parsed.data.data, card);
    if (models === null) return null;
    return catalogReport(
      models.map((model) => catalogModel(model.id, "warm", { contextLength: model.max_model_len ?? null })),
    );
  },
  load: () => null,
  unload: () => [],
  meaning: (answer) => meaningOf(answer, RULES),
};
