import { createHash } from "node:crypto";
import type { CatalogModel } from "@farmgate/engines";
import { isoTime } from "@farmgate/shared";
import { resolveName } from "../routing/resolve-name.ts";
import { findModel, modelList, type ModelListEntry, type ModelListSource } from "./model-list.ts";
import { familyOf, parameterCount, parameterSize, withTag } from "./ollama-names.ts";

/** Engines keep their models for as long as they see fit, which none tells; clients read this as "for ever". */
const NEVER = "2318-01-01T00:00:00Z";

/** One model of the farm with all that its workers tell of it. */
interface FarmModel {
  name: string;
  entry: ModelListEntry;
  copies: readonly CatalogModel[];
  /** Of these, the loaded ones. */
  warm: readonly CatalogModel[];
}

/** `GET /api/tags`: the models of `GET /v1/models`, as Ollama shows its own. */
export function ollamaTags(source: ModelListSource): object {
  const models = farmModels(source).map((model) => ({
    ...identityOf(model),
    modified_at: isoTime(source.created * 1_000),
    size: sizeOf(model.copies),
    details: detailsOf(model),
    capabilities: capabilitiesOf(model),
  }));
  return { models };
}

/** `GET /api/ps`: those of them that are loaded somewhere. */
export function ollamaRunning(source: ModelListSource): object {
  const models = farmModels(source)
    .filter(({ warm }) => warm.length > 0)
    .map((model) => ({
      ...identityOf(model),
      size: sizeOf(model.warm),
      details: detailsOf(model),
      expires_at: NEVER,
      size_vram: sizeOf(model.warm),
      context_length: contextOf(model.warm) ?? model.entry.farmgate.context_length ?? 0,
    }));
  return { models };
}

/** `POST /api/show`. Throws `model_not_found`. */
export function ollamaShow(asked: string, source: ModelListSource): object {
  const model = farmModel(findModel(asked, source), source);
  const family = familyOf(model.name, model.entry.farmgate.kind);
  const context = model.entry.farmgate.context_length;
  const parameters = parameterCount(model.name);
  return {
    modelfile: "",
    parameters: "",
    template: "",
    details: detailsOf(model),
    model_info: {
      "general.architecture": family,
      "general.basename": model.entry.id,
      ...(parameters === null ? {} : { "general.parameter_count": parameters }),
      ...(context === null ? {} : { [`${family}.context_length`]: context }),
    },
    capabilities: capabilitiesOf(model),
    modified_at: isoTime(source.created * 1_000),
  };
}

function farmModels(source: ModelListSource): FarmModel[] {
  return modelList(source).map((entry) => farmModel(entry, source));
}

function farmModel(entry: ModelListEntry, { catalog, names }: ModelListSource): FarmModel {
  const { key } = resolveName(entry.id, names, catalog);
  const here = new Set(entry.farmgate.workers);
  const copies = catalog.workers.flatMap(({ config, byKey }) => (here.has(config.name) ? (byKey.get(key) ?? []) : []));
  const warm = copies.filter(({ state }) => state === "warm");
  return { name: withTag(entry.id), entry, copies, warm };
}

/** Where no engine tells a digest there is one of the name: clients show its first digits. */
function identityOf({ name, copies }: FarmModel) {
  const told = copies.find(({ digest }) => digest !== null)?.digest ?? null;
  return { name, model: name, digest: told ?? createHash("sha256").update(name.toLowerCase()).digest("hex") };
}

function detailsOf({ name, entry, copies }: FarmModel): object {
  const quantization = copies.find((copy) => copy.quantization !== null)?.quantization ?? "";
  const family = familyOf(name, entry.farmgate.kind);
  return {
    parent_model: "",
    format: /^I?Q\d|^B?F(16|32)$/i.test(quantization) ? "gguf" : "",
    family,
    families: [family],
    parameter_size: parameterSize(name),
    quantization_level: quantization,
    ...(entry.farmgate.context_length === null ? {} : { context_length: entry.farmgate.context_length }),
  };
}

function capabilitiesOf({ entry, copies }: FarmModel): string[] {
  const { kind } = entry.farmgate;
  if (kind === "embeddings") return ["embedding"];
  if (kind !== "chat" && kind !== "vision") return [];
  const told = copies.flatMap(({ capabilities }) => capabilities);
  return [...new Set(["completion", ...(kind === "vision" ? ["vision"] : []), ...told])];
}

/** Bytes; 0: nobody tells. */
function sizeOf(copies: readonly CatalogModel[]): number {
  return Math.max(0, ...copies.map(({ memoryBytes }) => memoryBytes ?? 0));
}

function contextOf(copies: readonly CatalogModel[]): number | null {
  const told = copies.flatMap(({ contextLength }) => contextLength ?? []);
  return told.length === 0 ? null : Math.min(...told);
}
