import { nameKey } from "@farmgate/shared";
import { z } from "zod";
import { type Adapter, PLAIN } from "./adapter.ts";
import { type MeaningRule, meaningOf } from "./meaning.ts";
import { OPENAI_RULES } from "./openai.ts";
import { BOTH_COMMANDS, catalogModel, catalogReport, modelName, readList } from "./read-model.ts";

const list = z.object({ data: z.unknown().optional() });
const card = z.object({ id: modelName });
const system = z.object({ loaded_models: z.unknown().optional() });

const RULES: readonly MeaningRule[] = [
  { status: 500, text: /(could not|failed to|unable to) load (the )?model/i, meaning: "load_failed" },
  ...OPENAI_RULES,
];

/**
 * LocalAI: `/v1/models` lists what is configured, `/system` what is loaded (with keys in use, only for an admin's:
 * without it nothing is known of that). What it does with a name that it does not have differs by release and may be
 * an attempt to load a file of that name, so it stands only for what it lists.
 * Its calls to load and unload answer when that is done; the one to load came with 4.9.
 */
export const localai: Adapter = {
  ...PLAIN,
  engine: "localai",
  catalogPath: "/v1/models",
  extraPath: "/system",
  livenessPath: "/healthz",
  loadsOnRequest: true,
  parse(main, extra) {
    const parsed = list.safeParse(main);
    if (!parsed.success || parsed.data.data === undefined) return null;
    const models = readList(parsed.data.data, card);
    if (models === null) return null;
    const loaded = readLoaded(extra);
    return catalogReport(
      models.map(({ id }) => {
        const state = loaded === null ? "unknown" : loaded.has(nameKey(id)) ? "warm" : "cold";
        return catalogModel(id, state, { commands: BOTH_COMMANDS });
      }),
      { refusesUnknown: false },
    );
  },
  load: ({ id, commands }) =>
    commands.includes("load") ? { path: "/backend/load", body: { model: id }, done: "answer" } : null,
  unload: ({ id, commands }) =>
    commands.includes("unload")
      ? [
          {
            path: "/backend/shutdown",
            body: { model: id },
            done: "answer",
            already: { status: 404, text: /not (loaded|found)/i },
          },
        ]
      : [],
  meaning: (answer) => meaningOf(answer, RULES),
};

function readLoaded(extra: unknown): ReadonlySet<string> | null {
  const parsed = system.safeParse(extra);
  const models =
    parsed.success && parsed.data.loaded_models !== undefined ? readList(parsed.data.loaded_models, card) : null;
  return models === null ? null : new Set(models.map(({ id }) => nameKey(id)));
}
