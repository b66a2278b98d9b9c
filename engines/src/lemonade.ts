import { type Api, nameKey } from "@farmgate/shared";
import { z } from "zod";
import { type Adapter, PLAIN } from "./adapter.ts";
import type { CatalogModel } from "./catalog.ts";
import { type MeaningRule, meaningOf } from "./meaning.ts";
import { OPENAI_RULES } from "./openai.ts";
import {
  BOTH_COMMANDS,
  bytesOf,
  catalogModel,
  catalogReport,
  figure,
  maybeText,
  modelName,
  readList,
} from "./read-model.ts";

const list = z.object({ data: z.unknown().optional() });
const card = z.object({
  id: modelName,
  checkpoint: maybeText,
  recipe: maybeText,
  /** In units of 10^9 bytes. */
  size: figure,
  context_length: figure,
  labels: z.array(z.string()).nullish().catch(null),
});
const health = z.object({ all_models_loaded: z.unknown().optional() });
const running = z.object({
  model_name: modelName,
  loaded: z.boolean().nullish().catch(null),
  recipe_options: z.object({ ctx_size: figure }).nullish().catch(null),
});
type Card = z.output<typeof card>;

const RULES: readonly MeaningRule[] = [{ text: /failed to load/i, meaning: "load_failed" }, ...OPENAI_RULES];

/** A label names the one thing that a model is deployed for; a model with none of these chats. */
const KINDS: readonly (readonly [label: RegExp, kind: string, apis: readonly Api[]])[] = [
  [/^embeddings?$/, "embeddings", ["embeddings"]],
  [/^rerank(ing|er)$/, "rerank", ["rerank"]],
  [/^realtime-transcription$/, "audio", ["transcriptions", "realtime"]],
  [/^transcription$/, "audio", ["transcriptions"]],
  [/^(tts|audio-generation)$/, "audio", ["speech"]],
  [/^classifi(er|cation)$/, "classifier", []],
  [/^image$/, "image", ["image-generations", "image-edits", "image-variations"]],
  [/^3d$/, "image", []],
];
/** Models without labels go by what runs them. */
const KIND_OF_RECIPE: ReadonlyMap<string, string> = new Map([
  ["whispercpp", "transcription"],
  ["kokoro", "tts"],
  ["sd-cpp", "image"],
]);
const CHAT: readonly Api[] = ["chat", "completions", "responses", "messages"];

/**
 * Lemonade: `/v1/models` lists what is on the disk, `/v1/health` what is loaded. A name that is not listed may be one
 * of its catalogue, which a request makes it fetch from the internet, so it stands only for what it lists. Models of
 * a cloud (`recipe: "cloud"`) are never warm here.
 */
export const lemonade: Adapter = {
  ...PLAIN,
  engine: "lemonade",
  catalogPath: "/v1/models",
  extraPath: "/v1/health",
  livenessPath: "/v1/health",
  loadsOnRequest: true,
  parse(main, extra) {
    const parsed = list.safeParse(main);
    if (!parsed.success || parsed.data.data === undefined) return null;
    const cards = readList(parsed.data.data, card);
    if (cards === null) return null;
    const loaded = readLoaded(extra);
    return catalogReport(
      cards.map((told) => toModel(told, loaded)),
      { refusesUnknown: false },
    );
  },
  load: ({ id, commands }) =>
    commands.includes("load") ? { path: "/v1/load", body: { model_name: id }, done: "answer" } : null,
  // Without a name it would unload everything.
  unload: ({ id, commands }) =>
    commands.includes("unload")
      ? [
          {
            path: "/v1/unload",
            body: { model_name: id },
            done: "answer",
            already: { status: 404, text: /not (found|loaded)/i },
          },
        ]
      : [],
  meaning: (answer) => meaningOf(answer, RULES),
};

/** Loaded models with the context that each was loaded with. */
function readLoaded(extra: unknown): ReadonlyMap<string, number | null> | null {
  const parsed = health.safeParse(extra);
  const models =
    parsed.success && parsed.data.all_models_loaded !== undefined
      ? readList(parsed.data.all_models_loaded, running)
      : null;
  if (models === null) return null;
  const loaded = models.filter((model) => model.loaded !== false);
  return new Map(loaded.map((model) => [nameKey(model.model_name), model.recipe_options?.ctx_size || null]));
}

function toModel(told: Card, loaded: ReadonlyMap<string, number | null> | null): CatalogModel {
  const key = nameKey(told.id);
  const cloud = told.recipe === "cloud";
  const state = cloud ? "cold" : loaded === null ? "unknown" : loaded.has(key) ? "warm" : "cold";
  return catalogModel(told.id, state, {
    ...kindOf(told),
    contextLength: loaded?.get(key) ?? told.context_length ?? null,
    memoryBytes: cloud ? null : bytesOf((told.size ?? 0) * 1e9),
    quantization: /:((?:UD-)?I?Q\d\w*|B?F(?:16|32))$/i.exec(told.checkpoint ?? "")?.[1] ?? null,
    commands: cloud ? [] : BOTH_COMMANDS,
  });
}

function kindOf({ labels, recipe }: Card): Pick<CatalogModel, "kind" | "apis"> {
  const ofRecipe = KIND_OF_RECIPE.get(recipe ?? "");
  const told = [...(labels ?? []), ...(ofRecipe === undefined ? [] : [ofRecipe])];
  for (const [label, kind, apis] of KINDS) if (told.some((one) => label.test(one))) return { kind, apis };
  return { kind: told.includes("vision") ? "vision" : "chat", apis: CHAT };
}
