import { type Api, nameKey } from "@farmgate/shared";
import { z } from "zod";
import type { CatalogModel, ModelCapability } from "./catalog.ts";
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
  readList,
  textOrNull,
} from "./read-model.ts";

const list = z.object({ models: z.unknown().optional() });
const tag = z.object({
  name: modelName,
  size: figure,
  digest: maybeText,
  details: z.object({ context_length: figure, quantization_level: maybeText }).nullish().catch(null),
  capabilities: z.array(z.string()).nullish().catch(null),
  remote_model: maybeText,
  remote_host: maybeText,
});
const running = z.object({ name: modelName, context_length: figure, size: figure });
type Tag = z.output<typeof tag>;
/** By name key. */
type Running = ReadonlyMap<string, z.output<typeof running>>;

const CAPABILITIES: readonly ModelCapability[] = ["tools", "thinking", "vision", "insert"];

const EMBEDS: readonly Api[] = ["embeddings", "ollama-embed", "ollama-embeddings"];

/** Load failures come as 500 with the runner's words, and so may pictures for a model that does not see. */
export const OLLAMA_RULES: readonly MeaningRule[] = [
  { status: 500, text: /missing data required for image input/, meaning: "client_fault" },
  { status: 500, text: /requires more system memory/, meaning: "load_failed" },
  { status: 500, text: /runner process has terminated|waiting for .*runner to start/, meaning: "load_failed" },
  { status: 500, text: /(error|unable to|failed to) load(ing)?( the)? model/, meaning: "load_failed" },
  { status: 500, text: /model failed to load/, meaning: "load_failed" },
];

/**
 * Ollama: `/api/tags` lists, `/api/ps` tells what is loaded (or loading; it does not say which). Both commands are
 * requests without a prompt, and name nothing but the model: with options of ours it would load a model otherwise than
 * for its callers, and load it again for each of them. How long it then stays is its owner's to say.
 */
export const ollama: Adapter = {
  ...PLAIN,
  engine: "ollama",
  catalogPath: "/api/tags",
  extraPath: "/api/ps",
  livenessPath: "/",
  loadsOnRequest: true,
  tellsLargestContext: true,
  // Its own default, which it tells nowhere; more would queue there, unseen.
  defaultSlots: 1,
  parse(main, extra) {
    const parsed = list.safeParse(main);
    if (!parsed.success || parsed.data.models === undefined) return null;
    const models = readList(parsed.data.models, tag);
    if (models === null) return null;
    const loaded = readRunning(extra);
    return catalogReport(models.map((model) => toModel(model, loaded)));
  },
  load({ id: model, kind, commands }) {
    if (!commands.includes("load")) return null;
    return kind === "embeddings"
      ? { path: "/api/embed", body: { model, input: "" }, done: "answer" }
      : { path: "/api/generate", body: { model, stream: false }, done: "answer" };
  },
  // Looked at before what the model can do, so that it is right for one of embeddings too.
  unload: ({ id: model, commands }) =>
    commands.includes("unload")
      ? [{ path: "/api/generate", body: { model, stream: false, keep_alive: 0 }, done: "answer" }]
      : [],
  meaning: (answer) => meaningOf(answer, OLLAMA_RULES),
};

/** null when `/api/ps` was not to be had. */
function readRunning(extra: unknown): Running | null {
  const parsed = list.safeParse(extra);
  const models = parsed.success && parsed.data.models !== undefined ? readList(parsed.data.models, running) : null;
  if (models === null) return null;
  return new Map(models.map((model) => [nameKey(model.name), model]));
}

function toModel(model: Tag, loaded: Running | null): CatalogModel {
  const key = nameKey(model.name);
  const runs = loaded?.get(key);
  const remote = isRemote(model);
  const capabilities = model.capabilities ?? [];
  const read = catalogModel(model.name, remote ? "cold" : stateOf(key, loaded), {
    // Of a loaded model the context that it was loaded with, and all that it takes, with its context.
    contextLength: runs?.context_length ?? model.details?.context_length ?? null,
    memoryBytes: remote ? null : (bytesOf(runs?.size) ?? bytesOf(model.size)),
    quantization: textOrNull(model.details?.quantization_level),
    digest: textOrNull(model.digest),
    capabilities: CAPABILITIES.filter((one) => capabilities.includes(one)),
    commands: remote ? [] : BOTH_COMMANDS,
  });
  if (capabilities.includes("embedding") && !capabilities.includes("completion")) {
    return { ...read, kind: "embeddings", apis: EMBEDS };
  }
  return capabilities.includes("vision") ? { ...read, kind: "vision" } : read;
}

/** A cloud model is never warm here. */
function isRemote(model: Tag): boolean {
  return textOrNull(model.remote_host) !== null || textOrNull(model.remote_model) !== null;
}

function stateOf(key: string, loaded: Running | null) {
  if (loaded === null) return "unknown";
  return loaded.has(key) ? "warm" : "cold";
}
