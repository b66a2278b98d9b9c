import { isLoopback, nameKey } from "@farmgate/shared";
import type { AgentConfig } from "./config.ts";

/**
 * Who brings a model up and takes it down: the owner's swap script, the agent itself, which runs the model's `command`,
 * or an attached engine (by its address) that loads its own models.
 */
export type HeldBy = { kind: "script" } | { kind: "command"; command: string } | { kind: "engine"; url: string };

/** A configured model, or one that an attached engine lists, ready for use. */
export interface ServedModel {
  name: string;
  aliases: readonly string[];
  /** What its engine calls it. */
  engineName: string;
  /** Where its engine answers, without a trailing slash. */
  url: string;
  /** Another model answers at the same address, so that an answer alone does not say which one is loaded. */
  sharesUrl: boolean;
  slots: number;
  ready: "health" | "models" | "generate";
  health: string;
  /** Limit on swap script plus readiness, in milliseconds. */
  timeoutMs: number;
  memoryBytes: number | null;
  heldBy: HeldBy;
  /** Milliseconds between the polite and the forced end of a `command`. */
  stopGraceMs: number;
  pinned: boolean;
  /** Unloaded after so many idle milliseconds; 0: never. */
  ttlMs: number;
  preload: boolean;
  /** After the caller left, the answer is read on up to these limits; 0 and 0: the engine's connection is closed. */
  drainOnAbort: { bytes: number; ms: number };
}

/** The models of an agent by all their names. Iterates in the order of the configuration. */
export class ModelBook {
  readonly models: readonly ServedModel[];
  readonly #byKey = new Map<string, ServedModel>();

  constructor(config: AgentConfig) {
    this.models = config.models.map((model) => toServed(model, config));
    for (const model of this.models) {
      for (const spelling of [model.name, ...model.aliases]) this.#byKey.set(nameKey(spelling), model);
    }
  }

  /** The model that a caller means, by name or alias, in any case and with or without `:latest`. */
  find(spelling: string): ServedModel | undefined {
    return this.#byKey.get(nameKey(spelling));
  }

  /** Every name and alias, for "did you mean". */
  spellings(): string[] {
    return this.models.flatMap((model) => [model.name, ...model.aliases]);
  }
}

function toServed(model: AgentConfig["models"][number], config: AgentConfig): ServedModel {
  return {
    name: model.name,
    aliases: model.aliases,
    engineName: model.model ?? model.name,
    url: model.url,
    sharesUrl: config.models.some((other) => other !== model && addressOf(other.url) === addressOf(model.url)),
    slots: model.slots,
    ready: model.ready,
    health: model.health,
    timeoutMs: model.timeout ?? config.swap.timeout,
    memoryBytes: model.memory === 0 ? null : model.memory,
    heldBy: model.command === undefined ? { kind: "script" } : { kind: "command", command: model.command },
    stopGraceMs: model.stopGrace,
    pinned: model.pinned,
    ttlMs: model.ttl,
    preload: model.preload,
    drainOnAbort: { bytes: model.drainOnAbort.bytes, ms: model.drainOnAbort.time },
  };
}

/** Where a URL leads: every name of this machine's own loopback is one. */
function addressOf(url: string): string {
  const { protocol, hostname, port, pathname } = new URL(url);
  return `${protocol}//${isLoopback(hostname) ? "localhost" : hostname}:${port}${pathname}`;
}
