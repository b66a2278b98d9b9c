import type { Api, ModelState } from "@farmgate/shared";

/** Contract section 2, `workers[].engine`, without `auto`. */
export const ENGINE_NAMES = [
  "agent",
  "ollama",
  "llama-server",
  "vllm",
  "lmstudio",
  "llama-swap",
  "mlx",
  "tei",
  "tgi",
  "sglang",
  "localai",
  "lemonade",
  "koboldcpp",
  "whisper",
  "jano",
  "openai",
] as const;
export type EngineName = (typeof ENGINE_NAMES)[number];

/** What a model can do beside answering, in Ollama's words. */
export type ModelCapability = "tools" | "thinking" | "vision" | "insert";

/** One model on one worker, as its last good catalogue told it. */
export interface CatalogModel {
  /** The worker's own spelling: what is sent upstream. */
  id: string;
  /** Other names under which the worker answers this model. */
  aliases: readonly string[];
  /**
   * Residency is a pair (known?, loaded?): `unknown` is not known, the others are known, and `warm` alone is loaded.
   */
  state: ModelState;
  kind: string;
  contextLength: number | null;
  slots: number | null;
  queued: number | null;
  oldestWaitMs: number | null;
  loadMs: number | null;
  tokensPerSecond: number | null;
  /** null: whatever the engine serves. */
  apis: readonly Api[] | null;
  /**
   * What it takes in memory while loaded, in bytes, as far as the engine tells: measured where it runs and is measured
   * (Ollama), else the size of its weights, which is less than that.
   */
  memoryBytes: number | null;
  quantization: string | null;
  /** As far as its engine tells; for clients to show, never for routing. */
  capabilities: readonly ModelCapability[];
  digest: string | null;
  /**
   * What its engine can be told of it by a call (`Adapter.load`, `Adapter.unload`), in the mode, the release and the
   * state in which it runs there.
   */
  commands: readonly ("load" | "unload")[];
  /** Names of its loaded copies, where the engine unloads by these (LM Studio); else empty. */
  instances: readonly string[];
  /** An agent's forecast, in milliseconds: how long a request that came now would wait for its grant, loads included. */
  predictedWaitMs: number | null;
  /** How long one answer takes on average, in milliseconds, as its agent learned it. */
  serviceMs: number | null;
  /** The agent's promise for a request that came now (its `queue/bound.ts`), in milliseconds. */
  waitBoundMs: number | null;
  /** Its agent never takes it out of memory for another. */
  pinned: boolean;
}

/** What an adapter made of a worker's catalogue answer. */
export interface CatalogReport {
  models: readonly CatalogModel[];
  /** It answers an error for a name that it does not have (contract: "No wrong model ever answers"). */
  refusesUnknown: boolean;
  draining: boolean;
  /** Slots of the whole worker when models report none of their own. */
  slots: number | null;
  /** What an agent has for its models, in bytes; budget 0: one swappable model at a time. null: not an agent. */
  memory: { budgetBytes: number; usedBytes: number } | null;
  /** Requests that wait in an agent's queue, next ones first; it may be cut short. */
  waiting: readonly WaitingRequest[];
}

/** One request in an agent's queue. Times in milliseconds. */
export interface WaitingRequest {
  /** Its `x-request-id`. */
  id: string;
  model: string;
  /** In its model's queue, from 1. */
  position: number;
  waitedMs: number;
  /** By when it is granted at the latest, from now, by the agent's rules; null: not known. */
  boundMs: number | null;
}

/**
 * What one poll found.
 * ok: a usable catalogue. loading: alive, its last known models are loading (llama-server's 503 "Loading model",
 * whisper.cpp's own).
 * no_catalog: alive but without a usable one. unauthorized: 401 or 403 on the catalogue.
 * dead: no status line in time; refused: nothing listens.
 */
export type PollResult =
  | { kind: "ok"; engine: EngineName; report: CatalogReport }
  | { kind: "loading"; engine: EngineName }
  | { kind: "no_catalog"; engine: EngineName | null; reason: string }
  | { kind: "unauthorized"; engine: EngineName | null; reason: string }
  | { kind: "dead"; reason: string }
  | { kind: "refused"; reason: string };
