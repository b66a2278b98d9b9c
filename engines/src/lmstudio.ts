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
  readAliases,
  readList,
  slotsOf,
  textOrNull,
} from "./read-model.ts";

const list = z.object({ models: z.unknown().optional(), data: z.unknown().optional() });
const instance = z.object({
  id: modelName,
  config: z.object({ context_length: figure, parallel: figure }).nullish().catch(null),
});
const model = z.object({
  key: modelName,
  type: maybeText,
  loaded_instances: z.unknown().optional(),
  max_context_length: figure,
  size_bytes: figure,
  quantization: z.object({ name: maybeText }).nullish().catch(null),
  capabilities: z
    .object({
      vision: z.boolean().nullish().catch(null),
      trained_for_tool_use: z.boolean().nullish().catch(null),
      reasoning: z.unknown().optional(),
    })
    .nullish()
    .catch(null),
});
const olderModel = z.object({
  id: modelName,
  type: maybeText,
  state: maybeText,
  max_context_length: figure,
  loaded_context_length: figure,
  quantization: maybeText,
});

const RULES: readonly MeaningRule[] = [{ text: /failed to load model/i, meaning: "load_failed" }];

/**
 * LM Studio 0.4 (`/api/v1/models`) and 0.3 (`/api/v0/models`). With one model loaded it may serve any name by it
 * (`servedOther` tells). Only 0.4 takes commands; to load a model a second time makes a second copy of it, so that one
 * that is loaded takes no load. It unloads copy by copy.
 */
export const lmstudio: Adapter = {
  ...PLAIN,
  mayServeOther: true,
  tellsLargestContext: true,
  engine: "lmstudio",
  catalogPath: "/api/v1/models",
  olderCatalogPath: "/api/v0/models",
  livenessPath: "/",
  loadsOnRequest: true,
  parse(main) {
    const parsed = list.safeParse(main);
    if (!parsed.success) return null;
    const { models, data } = parsed.data;
    const read =
      models === undefined
        ? data === undefined
          ? null
          : (readList(data, olderModel)?.map(fromOlder) ?? null)
        : (readList(models, model)?.map(fromCurrent) ?? null);
    return read === null ? null : catalogReport(read, { refusesUnknown: false });
  },
  load: ({ id, commands }) =>
    commands.includes("load") ? { path: "/api/v1/models/load", body: { model: id }, done: "answer" } : null,
  // Its first copy has the model's own name unless its owner gave it another.
  unload: ({ id, commands, instances }) =>
    commands.includes("unload")
      ? (instances.length > 0 ? instances : [id]).map((name) => ({
          path: "/api/v1/models/unload",
          body: { instance_id: name },
          done: "answer",
          already: { status: 404, text: /./s },
        }))
      : [],
  meaning: (answer) => meaningOf(answer, RULES),
};

/** A second load of one model makes a second instance, under a name of its own. */
function fromCurrent(told: z.output<typeof model>): CatalogModel {
  const instances = readList(told.loaded_instances, instance) ?? [];
  const parallel = instances.reduce((sum, one) => sum + (one.config?.parallel ?? 0), 0);
  const read = catalogModel(told.key, instances.length > 0 ? "warm" : "cold", {
    aliases: readAliases(
      instances.map((one) => one.id),
      told.key,
    ),
    contextLength: instances[0]?.config?.context_length ?? told.max_context_length ?? null,
    slots: slotsOf(parallel),
    memoryBytes: bytesOf(told.size_bytes),
    quantization: textOrNull(told.quantization?.name),
    capabilities: capabilitiesOf(told.capabilities),
    commands: instances.length > 0 ? ["unload"] : BOTH_COMMANDS,
    instances: instances.map((one) => one.id),
  });
  return withType(read, told.capabilities?.vision === true ? "vlm" : told.type);
}

function capabilitiesOf(told: z.output<typeof model>["capabilities"]): ModelCapability[] {
  const capabilities: ModelCapability[] = [];
  if (told?.trained_for_tool_use === true) capabilities.push("tools");
  if (typeof told?.reasoning === "object" && told.reasoning !== null) capabilities.push("thinking");
  if (told?.vision === true) capabilities.push("vision");
  return capabilities;
}

function fromOlder(told: z.output<typeof olderModel>): CatalogModel {
  const read = catalogModel(told.id, olderState(told.state), {
    contextLength: told.loaded_context_length ?? told.max_context_length ?? null,
    quantization: textOrNull(told.quantization),
  });
  return withType(read, told.type);
}

function olderState(state: string | null | undefined): CatalogModel["state"] {
  if (state === "loaded") return "warm";
  return state === "not-loaded" ? "cold" : "unknown";
}

function withType(read: CatalogModel, type: string | null | undefined): CatalogModel {
  if (type === "vlm") return { ...read, kind: "vision" };
  if (type === "embedding" || type === "embeddings") return { ...read, kind: "embeddings", apis: ["embeddings"] };
  return read;
}
