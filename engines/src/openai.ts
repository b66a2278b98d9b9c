import { z } from "zod";
import { type Adapter, PLAIN } from "./adapter.ts";
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

/** How OpenAI-like servers say that they have no such model. */
export const OPENAI_RULES: readonly MeaningRule[] = [
  { code: "model_not_found", meaning: "unknown_model" },
  { status: 400, text: /^(the )?model .{1,400}(not found|does not exist)/is, meaning: "unknown_model" },
];

/** Any other server with an OpenAI list: it cannot say what is loaded. */
export const openai: Adapter = {
  ...PLAIN,
  engine: "openai",
  catalogPath: "/v1/models",
  livenessPath: "/",
  // Nothing else can: a request is also the only proof that a model is there.
  loadsOnRequest: true,
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
  meaning: (answer) => meaningOf(answer, OPENAI_RULES),
};

/** Servers that give themselves away, although they were configured as `openai`: one model for any name, or fetched. */
const NOT_STRICT: ReadonlySet<string> = new Set(["koboldcpp", "sglang", "lemonade"]);

function answersToAnyName({ owned_by: owner, status }: z.output<typeof card>): boolean {
  return NOT_STRICT.has(owner ?? "") || (owner === "llamacpp" && status === undefined);
}
