import { adapterFor, type CatalogModel, type CatalogReport, type EngineName } from "@farmgate/engines";
import { anyGlobMatches, nameKey } from "@farmgate/shared";
import type { AgentConfig } from "../config.ts";
import type { Leaving, ServedModel } from "../served-model.ts";

export type EngineConfig = AgentConfig["engines"][number];

/** What an engine told of a model when it was last loaded: some tell it only then. */
export interface Remembered {
  memoryBytes: number | null;
  slots: number | null;
}

/** Requests at once where nobody says anything: what each kind of engine does as it comes. */
const OLLAMA_SLOTS = 1;
const OTHER_SLOTS = 4;

/** What to remember of a model, given what was remembered before. */
export function remember(model: CatalogModel, before: Remembered | undefined): Remembered {
  const loaded = model.state === "warm";
  return {
    memoryBytes: (loaded ? model.memoryBytes : null) ?? before?.memoryBytes ?? null,
    slots: model.slots ?? before?.slots ?? null,
  };
}

export interface ListedBy {
  config: EngineConfig;
  engine: EngineName;
  report: CatalogReport;
  remembered: ReadonlyMap<string, Remembered>;
  /** For models that have no time-out of their own, in milliseconds. */
  timeoutMs: number;
}

/**
 * The models of an engine's report as the agent serves them: those that the configuration lets through, each with what
 * the owner says of it, else what the engine says, else what its kind of engine does as it comes.
 */
export function listedModels(listed: ListedBy): ServedModel[] {
  const { config, report } = listed;
  const said = new Map(Object.entries(config.models).map(([name, rules]) => [nameKey(name), rules]));
  return report.models
    .filter(({ id }) => anyGlobMatches(config.allow, id) && !anyGlobMatches(config.deny, id))
    .map((model) => toServed(model, said.get(nameKey(model.id)), listed));
}

/** Names in the configuration that the engine does not list. */
export function unlistedNames(config: EngineConfig, report: CatalogReport): string[] {
  const listed = new Set(report.models.map(({ id }) => nameKey(id)));
  return Object.keys(config.models).filter((name) => !listed.has(nameKey(name)));
}

function toServed(
  model: CatalogModel,
  said: EngineConfig["models"][string] | undefined,
  { config, engine, report, remembered, timeoutMs }: ListedBy,
): ServedModel {
  const known = remembered.get(model.id);
  const usual = engine === "ollama" ? OLLAMA_SLOTS : OTHER_SLOTS;
  const memory = said === undefined || said.memory === 0 ? null : said.memory;
  return {
    name: model.id,
    // The owner's come first: of two models that share an alias one keeps it.
    aliases: [...(said?.aliases ?? []), ...model.aliases],
    engineName: model.id,
    url: config.url,
    apiKey: config.apiKey,
    sharesUrl: true,
    slots: said?.slots ?? config.slots ?? wholeSlots(model.slots ?? known?.slots ?? report.slots) ?? usual,
    ready: "models",
    health: "/health",
    timeoutMs: said?.timeout ?? timeoutMs,
    memoryBytes: memory ?? known?.memoryBytes ?? model.memoryBytes,
    heldBy: { kind: "engine", url: config.url },
    leaves: leaving(engine, model, report),
    stopGraceMs: 0,
    pinned: said?.pinned ?? false,
    ttlMs: said?.ttl ?? config.ttl,
    preload: said?.preload ?? false,
    drainOnAbort: { bytes: said?.drainOnAbort.bytes ?? 0, ms: said?.drainOnAbort.time ?? 0 },
    kind: model.kind,
    apis: model.apis,
  };
}

/** An engine may tell none, or nonsense. */
function wholeSlots(told: number | null): number | null {
  return told === null || told < 1 ? null : Math.floor(told);
}

/**
 * 1. The engine has a call for it. It is asked as of a loaded model, since some name what is loaded in that call.
 * 2. It has none, and everything that it lists is loaded: it has what it was started with.
 * 3. It has none and loads on request: what it had before may go then, and nothing tells.
 */
function leaving(engine: EngineName, model: CatalogModel, report: CatalogReport): Leaving {
  const adapter = adapterFor(engine);
  if (adapter.unload({ ...model, state: "warm" }).length > 0) return "call"; // (1)
  const allLoaded = report.models.every(({ state }) => state === "warm");
  return allLoaded && adapter.load(model.id) === null ? "never" : "replaced"; // (2), (3)
}
