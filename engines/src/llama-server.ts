import { isApi, type ModelState } from "@farmgate/shared";
import { z } from "zod";
import type { CatalogModel, CatalogReport } from "./catalog.ts";
import { type Adapter, PLAIN } from "./adapter.ts";
import { type MeaningRule, meaningOf } from "./meaning.ts";
import {
  BOTH_COMMANDS,
  bytesOf,
  catalogModel,
  catalogReport,
  figure,
  maybeText,
  modelName,
  readAliases,
  readList,
  slotsOf,
  textOrNull,
} from "./read-model.ts";

const list = z.object({ data: z.unknown().optional(), models: z.unknown().optional() });
const props = z.object({
  role: maybeText,
  total_slots: figure,
  is_sleeping: z.boolean().nullish().catch(null),
  default_generation_settings: z.object({ n_ctx: figure }).nullish().catch(null),
});
const element = z.object({
  id: modelName,
  aliases: z.unknown().optional(),
  status: z
    .object({ value: z.string(), failed: z.boolean().nullish().catch(null) })
    .nullish()
    .catch(null),
  /** `apis`: told by the simulated engine alone, which has models that a llama-server has not. */
  meta: z
    .object({ n_ctx: figure, size: figure, apis: z.array(z.string()).nullish().catch(null) })
    .nullish()
    .catch(null),
  architecture: z
    .object({ input_modalities: z.array(z.string()).catch([]) })
    .nullish()
    .catch(null),
});
const legacyElement = z.object({
  capabilities: z.array(z.string()).catch([]),
  digest: maybeText,
  details: z.object({ quantization_level: maybeText }).nullish().catch(null),
});
type Element = z.output<typeof element>;

/**
 * Malformed JSON, wrong types, over-long embedding inputs, and pictures or sound for a model that takes none come as 500
 * but are the caller's fault. Embeddings
 * switched off (501) is left to the status: another worker may have them on.
 */
export const LLAMA_SERVER_RULES: readonly MeaningRule[] = [
  { status: 503, text: /loading model/i, meaning: "loading" },
  { status: 500, text: /^\[json\.exception\./, meaning: "client_fault" },
  { status: 500, text: /parse error at line \d+/, meaning: "client_fault" },
  { status: 500, text: /is too large to process/, meaning: "client_fault" },
  { status: 500, text: /context does not logits computation/, meaning: "client_fault" },
  { status: 500, text: /^(image|audio|video) input is not supported/, meaning: "client_fault" },
  { status: 500, text: /failed to load/, meaning: "load_failed" },
  { status: 500, text: /model limit reached/, meaning: "busy" },
  { status: 400, text: /^model '.*' not found/s, meaning: "unknown_model" },
  { status: 400, text: /^model (name=\S+ )?is not loaded/, meaning: "load_failed" },
];

/**
 * llama.cpp's `llama-server`: with one model, or as a router over several (told by the catalogue's shape).
 * A router takes commands: a load is accepted at once and shows in its list. "Already running" it also says of a model
 * that is still loading, and of one that sleeps, which only a request wakes. One with a single model takes none.
 */
export const llamaServer: Adapter = {
  ...PLAIN,
  engine: "llama-server",
  catalogPath: "/v1/models",
  // Without a query it neither loads nor wakes a model, in either mode.
  extraPath: "/props",
  loadsOnRequest: true,
  parse(main, extra) {
    const parsed = list.safeParse(main);
    if (!parsed.success || parsed.data.data === undefined) return null;
    const models = readList(parsed.data.data, element);
    if (models === null) return null;
    const told = props.safeParse(extra).data ?? null;
    const router = told?.role === "router" || models.some((model) => model.status);
    return router ? routerReport(models) : singleReport(models, parsed.data.models, told);
  },
  load: ({ id, commands }) =>
    commands.includes("load")
      ? {
          path: "/models/load",
          body: { model: id },
          done: "poll",
          already: { status: 400, text: /already (running|loaded)/i },
        }
      : null,
  unload: ({ id, commands }) =>
    commands.includes("unload")
      ? [
          {
            path: "/models/unload",
            body: { model: id },
            done: "poll",
            already: { status: 400, text: /not (running|loaded)/i },
          },
        ]
      : [],
  meaning: (answer) => meaningOf(answer, LLAMA_SERVER_RULES),
};

function routerReport(models: readonly Element[]): CatalogReport {
  return catalogReport(
    models.map((model) => {
      const commands: CatalogModel["commands"] = model.status?.value === "sleeping" ? ["unload"] : BOTH_COMMANDS;
      return { ...toModel(model, routerState(model.status), sees(model)), commands };
    }),
  );
}

/** `sleeping` keeps the process but not the weights: cheaper than cold, yet not warm. */
function routerState(status: Element["status"]): ModelState {
  if (status?.failed === true) return "failed";
  switch (status?.value ?? "") {
    case "loaded":
      return "warm";
    case "loading":
      return "loading";
    case "unloaded":
    case "sleeping":
    case "downloaded":
    case "downloading":
      return "cold";
    default:
      return "unknown";
  }
}

/** One model, which answers to whatever name a request has: listed is loaded, unless it sleeps. */
function singleReport(models: readonly Element[], legacy: unknown, told: z.output<typeof props> | null): CatalogReport {
  const state = told?.is_sleeping === true ? "cold" : "warm";
  const items = readList(legacy, legacyElement) ?? [];
  const multimodal = items.some((item) => item.capabilities.includes("multimodal"));
  const quantization = textOrNull(items[0]?.details?.quantization_level);
  const digest = textOrNull(items[0]?.digest);
  const context = told?.default_generation_settings?.n_ctx ?? null;
  return catalogReport(
    models.map((model) => {
      const read = toModel(model, state, multimodal || sees(model));
      return { ...read, contextLength: read.contextLength ?? context, quantization, digest };
    }),
    { refusesUnknown: false, slots: slotsOf(told?.total_slots) },
  );
}

function sees(model: Element): boolean {
  return model.architecture?.input_modalities.includes("image") === true;
}

/** `meta.n_ctx` is the context of one slot: what one request gets. */
function toModel(model: Element, state: ModelState, vision: boolean): CatalogModel {
  const read = catalogModel(model.id, state, {
    aliases: readAliases(model.aliases, model.id),
    contextLength: model.meta?.n_ctx ?? null,
    memoryBytes: bytesOf(model.meta?.size),
  });
  const apis = model.meta?.apis?.filter(isApi);
  if (apis !== undefined) return { ...read, apis, kind: apis.includes("image-generations") ? "image" : "audio" };
  // It has a form of its own for models whose template knows no tools.
  if (vision) return { ...read, kind: "vision", capabilities: ["tools", "vision"] };
  return read.kind === "chat" ? { ...read, capabilities: ["tools"] } : read;
}
