import type { Api } from "@farmgate/shared";
import type { Phase } from "./engine-state.ts";
import type { EngineModel, EngineOptions } from "./options.ts";
import { FINGERPRINT } from "./usage.ts";

/** What the catalogue is made of. */
export interface CatalogueEntry {
  model: EngineModel;
  phase: Phase;
  failed: boolean;
}

/** `GET /v1/models` in router mode; `created` in seconds since the Unix epoch. */
export function routerList(entries: readonly CatalogueEntry[], created: number, apis?: EngineOptions["apis"]): object {
  return { data: entries.map((entry) => routerEntry(entry, created, apis)), object: "list" };
}

/** `GET /v1/models` of a single-model engine: one list for OpenAI clients, one for Ollama's. */
export function singleList(model: EngineModel, created: number, apis?: EngineOptions["apis"]): object {
  const details = { parent_model: "", format: "gguf", family: "", families: [""], parameter_size: "" };
  const ollama = {
    name: model.name,
    model: model.name,
    modified_at: "",
    size: "",
    digest: "",
    type: "model",
    description: "",
    tags: [""],
    capabilities: [capability(model)],
    parameters: "",
    details: { ...details, quantization_level: "" },
  };
  const entry = { ...identity(model, created), aliases: [model.name, ...model.aliases], meta: meta(model, apis) };
  return { models: [ollama], object: "list", data: [entry] };
}

/** `GET /props` of a router, or of a model's own server. */
export function routerProps(options: EngineOptions): object {
  return {
    role: "router",
    max_instances: options.maxLoaded,
    models_autoload: options.autoload,
    model_path: "none",
    model_alias: "llama-server",
    default_generation_settings: { params: null, n_ctx: 0 },
    total_slots: options.slots,
    build_info: FINGERPRINT,
    simulated: true,
  };
}

export function modelProps(model: EngineModel, slots: number): object {
  return {
    default_generation_settings: { params: {}, n_ctx: model.contextLength },
    total_slots: slots,
    model_alias: model.name,
    model_path: `simulated/${model.name}.gguf`,
    modalities: { vision: false, video: false, audio: false },
    endpoint_slots: true,
    endpoint_props: true,
    endpoint_metrics: false,
    chat_template: "",
    build_info: FINGERPRINT,
    is_sleeping: false,
    simulated: true,
  };
}

/** `GET /slots` of one model. */
export function slotList(model: EngineModel, jobs: readonly (string | null)[]): object[] {
  return jobs.map((job, id) => ({
    id,
    n_ctx: model.contextLength,
    speculative: false,
    is_processing: job !== null,
    ...(job === null ? {} : { id_task: Number(job) }),
  }));
}

function routerEntry({ model, phase, failed }: CatalogueEntry, created: number, apis: EngineOptions["apis"]): object {
  // A model that ends its last answers is still loaded as far as a caller can see.
  const value = phase === "stopping" ? "loaded" : phase;
  return {
    ...identity(model, created),
    status: {
      value,
      args: ["simulated", "--alias", model.name, ...flags(model)],
      preset: `[${model.name}]\n`,
      ...(failed ? { exit_code: 1, failed: true } : {}),
    },
    architecture: modalities(model),
    source: "preset",
    can_remove: false,
    meta: value === "loaded" ? meta(model, apis) : { simulated: true, ...toldApis(model, apis) },
  };
}

function identity(model: EngineModel, created: number): object {
  return { id: model.name, aliases: model.aliases, tags: [], object: "model", owned_by: "llamacpp", created };
}

function meta(model: EngineModel, apis: EngineOptions["apis"]): object {
  const { contextLength: context, memory: size } = model;
  return { n_ctx: context, n_ctx_train: context, size, simulated: true, ...toldApis(model, apis) };
}

const SOUND: readonly Api[] = ["speech", "transcriptions", "translations", "realtime"];
const PICTURES: readonly Api[] = ["image-generations", "image-edits", "image-variations"];

/** What a llama-server has no models for: who reads the list could not know it otherwise. */
function toldApis({ kind }: EngineModel, apis: EngineOptions["apis"]): { apis?: readonly Api[] } {
  if (kind !== "audio" && kind !== "image") return {};
  const all = kind === "audio" ? SOUND : PICTURES;
  return { apis: apis === undefined ? all : all.filter((api) => apis.includes(api)) };
}

function modalities({ kind }: EngineModel): object {
  const sound = kind === "audio" ? ["audio"] : [];
  const drawn = kind === "image" ? ["image"] : [];
  return { input_modalities: ["text", ...sound, ...drawn], output_modalities: ["text", ...sound, ...drawn] };
}

function capability(model: EngineModel): string {
  return model.kind === "chat" ? "completion" : model.kind;
}

function flags({ kind }: EngineModel): string[] {
  if (kind === "embedding") return ["--embeddings"];
  return kind === "rerank" ? ["--reranking"] : [];
}
