import { z } from "zod";
import type { Adapter } from "./adapter.ts";
import { type MeaningRule, meaningOf } from "./meaning.ts";
import { catalogModel, catalogReport, figure, maybeText, modelName, readList } from "./read-model.ts";

const list = z.object({ data: z.unknown().optional() });
const card = z.object({
  id: modelName,
  owned_by: maybeText,
  status: z.unknown().optional(),
  context_length: figure,
  max_model_len: figure,
});

const RULES: readonly MeaningRule[] = [
  { code: "model_not_found", meaning: "unknown_model" },
  { status: 400, text: /^(the )?model .{1,400}(not found|does not exist)/is, meaning: "unknown_model" },
];

/** Any other server with an OpenAI list: it cannot say what is loaded. */
export const openai: Adapter = {
  engine: "openai",
  catalogPath: "/v1/models",
  olderCatalogPath: null,
  extraPath: null,
  livenessPath: "/",
  swapsUnseen: false,
  parse(main) {
    const parsed = list.safeParse(main);
    if (!parsed.success || parsed.data.data === undefined) return null;
    const models = readList(parsed.data.data, card);
    if (models === null) return null;
    return catalogReport(
      models.map((model) =>
        catalogModel(model.id, "unknown", { contextLength: model.context_length ?? model.max_model_len ?? null }),
      ),
      { refusesUnknown: !models.some(answersToAnyName) },
    );
  },
  load: () => null,
  unload: () => [],
  meaning: (answer) => meaningOf(answer, RULES),
};

/** Single-model servers that give themselves away although they were configured as `openai`. */
function answersToAnyName(model: z.output<typeof card>): boolean {
  return model.owned_by === "koboldcpp" || (model.owned_by === "llamacpp" && model.status === undefined);
}
