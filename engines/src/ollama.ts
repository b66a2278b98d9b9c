import { type Api, nameKey } from "@farmgate/shared";
import { z } from "zod";
import type { CatalogModel } from "./catalog.ts";
import type { Adapter } from "./adapter.ts";
import { type MeaningRule, meaningOf } from "./meaning.ts";
import { catalogModel, catalogReport, figure, maybeText, modelName, readList } from "./read-model.ts";

const list = z.object({ models: z.unknown().optional() });
const tag = z.object({
  name: modelName,
  details: z.object({ context_length: figure }).nullish().catch(null),
  capabilities: z.array(z.string()).nullish().catch(null),
  remote_host: maybeText,
});
const running = z.object({ name: modelName, context_length: figure });

/** A model without a list of capabilities may be of any kind. */
const APIS: readonly Api[] = ["chat", "completions", "embeddings", "responses"];

/** Load failures come as 500 with the runner's words. */
export const OLLAMA_RULES: readonly MeaningRule[] = [
  { status: 500, text: /requires more system memory/, meaning: "load_failed" },
  { status: 500, text: /runner process has terminated|waiting for .*runner to start/, meaning: "load_failed" },
  { status: 500, text: /(error|unable to|failed to) load(ing)?( the)? model/, meaning: "load_failed" },
  { status: 500, text: /model failed to load/, meaning: "load_failed" },
];

/** Ollama: `/api/tags` lists, `/api/ps` tells what is loaded (or loading; it does not say which). */
export const ollama: Adapter = {
  engine: "ollama",
  catalogPath: "/api/tags",
  olderCatalogPath: null,
  extraPath: "/api/ps",
  livenessPath: "/",
  swapsUnseen: false,
  parse(main, extra) {
    const parsed = list.safeParse(main);
    if (!parsed.success || parsed.data.models === undefined) return null;
    const models = readList(parsed.data.models, tag);
    if (models === null) return null;
    const loaded = readRunning(extra);
    return catalogReport(models.map((model) => toModel(model, loaded)));
  },
  load: () => null,
  unload: () => [],
  meaning: (answer) => meaningOf(answer, OLLAMA_RULES),
};

/** Loaded models with the context that each was loaded with; null when `/api/ps` was not to be had. */
function readRunning(extra: unknown): ReadonlyMap<string, number | null> | null {
  const parsed = list.safeParse(extra);
  const models = parsed.success && parsed.data.models !== undefined ? readList(parsed.data.models, running) : null;
  if (models === null) return null;
  return new Map(models.map((model) => [nameKey(model.name), model.context_length ?? null]));
}

function toModel(model: z.output<typeof tag>, loaded: ReadonlyMap<string, number | null> | null): CatalogModel {
  const key = nameKey(model.name);
  const contextLength = loaded?.get(key) ?? model.details?.context_length ?? null;
  const read = catalogModel(model.name, stateOf(model, key, loaded), { contextLength, apis: APIS });
  const capabilities = model.capabilities ?? [];
  if (capabilities.includes("embedding") && !capabilities.includes("completion")) {
    return { ...read, kind: "embeddings", apis: ["embeddings"] };
  }
  return capabilities.includes("vision") ? { ...read, kind: "vision" } : read;
}

/** A cloud model is never warm here. */
function stateOf(model: z.output<typeof tag>, key: string, loaded: ReadonlyMap<string, unknown> | null) {
  if (model.remote_host) return "cold";
  if (loaded === null) return "unknown";
  return loaded.has(key) ? "warm" : "cold";
}
