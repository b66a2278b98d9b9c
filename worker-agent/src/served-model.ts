import type { EngineName } from "@farmgate/engines";
import { type Api, isLoopback, nameKey } from "@farmgate/shared";
import type { AgentConfig } from "./config.ts";

/**
 * Who brings a model up and takes it down: the owner's swap script, the agent itself, which runs the model's `command`,
 * or an attached engine (by its address) that loads its own models.
 */
export type HeldBy = { kind: "script" } | { kind: "command"; command: string } | { kind: "engine"; url: string };

/**
 * How a loaded model leaves memory.
 * call: its holder unloads it alone.
 * replaced: nothing unloads it but the load of another model of the same holder (the script, or one engine), which
 * makes it go.
 * never: its engine has it loaded for as long as it runs (a llama-server with one model, vLLM).
 */
export type Leaving = "call" | "replaced" | "never";

/** A configured model, or one that an attached engine lists, ready for use. */
export interface ServedModel {
  name: string;
  aliases: readonly string[];
  /** What its engine calls it. */
  engineName: string;
  /** Where its engine answers, without a trailing slash. */
  url: string;
  /** Who may have signed its engine's certificate, as PEM; null or absent: whom this machine trusts. */
  ca?: string | null;
  /** What its engine wants as `Authorization: Bearer`. */
  apiKey: string | null;
  /** Another model answers at the same address, so that an answer alone does not say which one is loaded. */
  sharesUrl: boolean;
  slots: number;
  ready: "health" | "models" | "generate";
  health: string;
  /** Limit on swap script plus readiness, in milliseconds. */
  timeoutMs: number;
  memoryBytes: number | null;
  heldBy: HeldBy;
  leaves: Leaving;
  /** Milliseconds between the polite and the forced end of a `command`. */
  stopGraceMs: number;
  pinned: boolean;
  /** Unloaded after so many idle milliseconds; 0: never. */
  ttlMs: number;
  preload: boolean;
  /** After the caller left, the answer is read on up to these limits; 0 and 0: the engine's connection is closed. */
  drainOnAbort: { bytes: number; ms: number };
  /** What its engine says that it is for (`chat`, `embeddings`, ...); null: guessed from the name. */
  kind: string | null;
  /** Which APIs its engine says that it speaks; null: it says nothing. */
  apis: readonly Api[] | null;
  /** The attached engine that lists it; null: a configured model, whose engine is known once it was loaded. */
  engine: EngineName | null;
  /** What its engine says of the weights; null: nothing. */
  quantization: string | null;
  digest: string | null;
}

/**
 * The models of an agent by all their names. Iterates in the order of the configuration, then engine by engine: an
 * engine's models come and go with its list.
 */
export class ModelBook {
  readonly #configured: readonly ServedModel[];
  readonly #byEngine = new Map<string, readonly ServedModel[]>();
  #models: readonly ServedModel[] = [];
  #byKey: ReadonlyMap<string, ServedModel> = new Map();

  constructor(config: AgentConfig) {
    const models = countOf(config.models.map(({ url }) => addressOf(url)));
    this.#configured = config.models.map((model) => toServed(model, config, models(addressOf(model.url)) > 1));
    for (const { url } of config.engines) this.#byEngine.set(url, []);
    this.#index();
  }

  /** All of them, as they are now: ask again after anything was awaited. */
  get models(): readonly ServedModel[] {
    return this.#models;
  }

  /** The model that a caller means, by name or alias, in any case and with or without `:latest`. */
  find(spelling: string): ServedModel | undefined {
    return this.#byKey.get(nameKey(spelling));
  }

  /** The model of exactly this name: what the scheduler calls it. One that has the name as an alias is another. */
  named(name: string): ServedModel | undefined {
    const model = this.find(name);
    return model?.name === name ? model : undefined;
  }

  /** The engine at this address lists these now, and no others. */
  replaceEngine(url: string, models: readonly ServedModel[]): void {
    this.#byEngine.set(url, models);
    this.#index();
  }

  /** Where a name is taken twice, whoever comes first in the order keeps it. */
  #index(): void {
    const models = [...this.#configured, ...[...this.#byEngine.values()].flat()];
    const byKey = new Map<string, ServedModel>();
    const name = (spelling: string, model: ServedModel) => {
      const key = nameKey(spelling);
      if (!byKey.has(key)) byKey.set(key, model);
    };
    for (const model of models) name(model.name, model);
    for (const model of models) for (const alias of model.aliases) name(alias, model);
    this.#models = models;
    this.#byKey = byKey;
  }
}

function countOf(values: readonly string[]): (value: string) => number {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return (value) => counts.get(value) ?? 0;
}

function toServed(model: AgentConfig["models"][number], config: AgentConfig, sharesUrl: boolean): ServedModel {
  return {
    name: model.name,
    aliases: model.aliases,
    engineName: model.model ?? model.name,
    url: model.url,
    ca: model.ca,
    apiKey: null,
    sharesUrl,
    slots: model.slots,
    ready: model.ready,
    health: model.health,
    timeoutMs: model.timeout ?? config.swap.timeout,
    memoryBytes: model.memory === 0 ? null : model.memory,
    heldBy: model.command === undefined ? { kind: "script" } : { kind: "command", command: model.command },
    leaves: model.command !== undefined || config.swap.unload ? "call" : "replaced",
    stopGraceMs: model.stopGrace,
    pinned: model.pinned,
    ttlMs: model.ttl,
    preload: model.preload,
    drainOnAbort: { bytes: model.drainOnAbort.bytes, ms: model.drainOnAbort.time },
    kind: null,
    apis: null,
    engine: null,
    quantization: null,
    digest: null,
  };
}

/** Where a URL leads: every name of this machine's own loopback is one. */
export function addressOf(url: string): string {
  return listenerOf(url) + new URL(url).pathname;
}

/** Whose port it is, whatever the path. */
export function listenerOf(url: string): string {
  const { protocol, hostname, port } = new URL(url);
  return `${protocol}//${isLoopback(hostname) ? "localhost" : hostname}:${port}`;
}
