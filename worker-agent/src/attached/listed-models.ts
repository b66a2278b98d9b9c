import { adapterFor, type CatalogModel, type CatalogReport, type EngineName, slotsOf } from "@farmgate/engines";
import { anyGlobMatches, nameKey } from "@farmgate/shared";
import type { AgentConfig } from "../config.ts";
import type { Leaving, ServedModel } from "../served-model.ts";

export type EngineConfig = AgentConfig["engines"][number];

/** What an engine told of a model when it was last loaded: some tell it only then. */
export interface Remembered {
  memoryBytes: number | null;
  slots: number | null;
}

/** On these every model that runs there takes commands; what takes none is a cloud's, and never loaded there. */
const CLOUDS: ReadonlySet<EngineName> = new Set(["ollama", "lemonade"]);

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

/** Of one engine no more are served, so that a list without end does not take the agent's time from its requests. */
export const MOST_MODELS = 2_000;

/**
 * The models of an engine's report as the agent serves them: those that the configuration lets through, each with what
 * the owner says of it, else what the engine says, else what its kind of engine does as it comes. `leftOut`: how many
 * are too many; those that the owner names are never among them.
 */
export function listedModels(listed: ListedBy): { models: ServedModel[]; leftOut: number } {
  const { config, report } = listed;
  const said = new Map(Object.entries(config.models).map(([name, rules]) => [nameKey(name), rules]));
  const away = new Set(elsewhere(listed.engine, report));
  const through = report.models
    .filter(({ id }) => !away.has(id))
    .filter(({ id }) => anyGlobMatches(config.allow, id) && !anyGlobMatches(config.deny, id));
  const served = through.filter(({ id }, i) => i < MOST_MODELS || said.has(nameKey(id)));
  const models = served.map((model) => toServed(model, said.get(nameKey(model.id)), listed));
  return { models, leftOut: through.length - served.length };
}

/** Ids of the models that the engine only passes on to a cloud: the agent has nothing to hold there. */
export function elsewhere(engine: EngineName, { models }: CatalogReport): string[] {
  return CLOUDS.has(engine) ? models.filter(({ commands }) => commands.length === 0).map(({ id }) => id) : [];
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
  const usual = adapterFor(engine).defaultSlots;
  const memory = said === undefined || said.memory === 0 ? null : said.memory;
  return {
    name: model.id,
    // The owner's come first: of two models that share an alias one keeps it.
    aliases: [...(said?.aliases ?? []), ...model.aliases],
    engineName: model.id,
    url: config.url,
    ca: config.ca,
    apiKey: config.apiKey,
    sharesUrl: true,
    slots: said?.slots ?? config.slots ?? slotsOf(model.slots ?? known?.slots ?? report.slots) ?? usual,
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
    engine,
    quantization: model.quantization,
    digest: model.digest,
  };
}

/**
 * 1. The engine has a call that unloads it.
 * 2. It has none, and loads nothing on request, or all that it lists is loaded: it has what it was started with.
 * 3. It has none and loads on request: what it had before may go then, and nothing tells.
 */
function leaving(engine: EngineName, model: CatalogModel, report: CatalogReport): Leaving {
  const adapter = adapterFor(engine);
  if (adapter.unload(model).length > 0) return "call"; // (1)
  const allLoaded = report.models.every(({ state }) => state === "warm");
  return allLoaded || !adapter.loadsOnRequest ? "never" : "replaced"; // (2), (3)
}
