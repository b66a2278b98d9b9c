import { type ModelState, nameKey } from "@farmgate/shared";
import { type CatalogModel, type CatalogReport, catalogModel, catalogReport } from "@farmgate/engines";
import { updateAliases } from "../../src/catalog/alias-names.ts";
import { listingsOf } from "../../src/catalog/listings.ts";
import { modelsByName } from "../../src/catalog/show-models.ts";
import type { Catalog, WorkerEntry } from "../../src/catalog/types.ts";
import { updateUnion } from "../../src/catalog/union.ts";
import { Learned } from "../../src/routing/learned.ts";
import type { Breaker } from "../../src/routing/breaker.ts";
import { nameRules, resolveName } from "../../src/routing/resolve-name.ts";
import { Turns } from "../../src/routing/turns.ts";
import type { Choice, Decision, RoutingContext, RoutingRequest, Strategy } from "../../src/routing/types.ts";
import { Inflight } from "../../src/state/inflight.ts";

/** A model as a catalogue tells it: a chat model in this state, nothing else known. */
export function model(id: string, state: ModelState, more: Partial<CatalogModel> = {}): CatalogModel {
  return catalogModel(id, state, { kind: "chat", ...more });
}

export interface WorkerSketch
  extends Partial<Omit<WorkerEntry, "config" | "byKey" | "byAlias" | "asideUntil" | "breakers" | "report">> {
  models?: readonly CatalogModel[];
  weight?: number | null;
  maxConcurrent?: number;
  allow?: readonly string[];
  deny?: readonly string[];
  slots?: number | null;
  memory?: CatalogReport["memory"];
  refusesUnknown?: boolean;
  /** nameKey -> until. */
  aside?: Readonly<Record<string, number>>;
  /** nameKey -> breaker, open until then. */
  open?: Readonly<Record<string, number>>;
  /** Its last good catalogue; false: there never was one. */
  reported?: boolean;
}

/** A healthy worker with a fresh catalogue whose engine refuses unknown names, unless told otherwise. */
export function worker(name: string, sketch: WorkerSketch = {}): WorkerEntry {
  const {
    models = [],
    weight = null,
    maxConcurrent = 0,
    allow = ["*"],
    deny = [],
    slots = null,
    memory = null,
  } = sketch;
  const { refusesUnknown = true, aside = {}, open = {}, reported = true, ...entry } = sketch;
  const config = {
    name,
    url: "http://127.0.0.1:1",
    engine: entry.engine ?? ("auto" as const),
    weight,
    models: { allow, deny },
    maxConcurrent,
    apiKey: null,
    drainOnAbort: { bytes: 0, time: 0 },
  };
  return {
    config,
    engine: entry.engine ?? null,
    health: entry.health ?? "healthy",
    catalog: entry.catalog ?? "fresh",
    catalogAt: 0,
    draining: entry.draining ?? false,
    refused: entry.refused ?? false,
    missedPolls: 0,
    problem: entry.problem ?? null,
    report: reported ? catalogReport(models, { refusesUnknown, slots, memory }) : null,
    ...modelsByName(models, config),
    ...(entry.retryAt === undefined ? {} : { retryAt: entry.retryAt }),
    breakers: new Map(Object.entries(open).map(([key, openUntil]) => [key, openBreaker(key, openUntil)])),
    asideUntil: new Map(Object.entries(aside).map(([key, until]) => [key, { until, reason: "it answered 404" }])),
  };
}

/** A breaker that three requests without an answer opened. */
function openBreaker(model: string, openUntil: number): Breaker {
  const reason = "no answer in time";
  const told = `3 requests in a row failed there (${reason})`;
  return { model, faults: 3, faultAt: 0, stalls: false, openUntil, trialAt: null, pauseMs: 30_000, reason, told };
}

/** The catalogue of these workers, as the reducer would make it. */
export function catalogOf(workers: readonly WorkerEntry[], everListed: readonly string[] = []): Catalog {
  const listings = listingsOf(workers);
  const aliases = updateAliases(new Map(), listings, listings.keys());
  const union = updateUnion(new Map(), listings, aliases, listings.keys());
  const listed = new Set([...everListed.map(nameKey), ...listings.keys()]);
  const usable = workers.filter(({ health }) => health !== "unhealthy" && health !== "misconfigured");
  const allKnown = usable.every(({ catalog }) => catalog !== "unreachable");
  return { workers, union, aliases, everListed: listed, allKnown, version: 1 };
}

export interface Farm extends RoutingContext {
  inflight: Inflight;
  turns: Turns;
}

export function farm(workers: readonly WorkerEntry[], strategy: Strategy = "least-connections"): Farm {
  return { catalog: catalogOf(workers), inflight: new Inflight(), turns: new Turns(), strategy, now: 1_000 };
}

/** The same farm, where waiting is weighed against loading. */
export function weighing(at: Farm, waitingAhead = 0): Farm & Required<Pick<RoutingContext, "pricing">> {
  return { ...at, pricing: { learned: new Learned(), inflight: at.inflight, waitingAhead } };
}

export function ask(name: string, more: Partial<RoutingRequest> = {}): RoutingRequest {
  const api = more.api ?? "chat";
  return {
    name,
    key: nameKey(name),
    api,
    ways: [api],
    spent: new Set(),
    only: null,
    held: null,
    patterns: ["*"],
    prefixWorker: null,
    ...more,
  };
}

/** A request for what a caller's name means in this farm. */
export function askFor(name: string, { catalog }: Pick<RoutingContext, "catalog">): RoutingRequest {
  const resolved = resolveName(name, nameRules({ aliases: {}, fallbacks: {} }), catalog);
  return ask(resolved.name, { key: resolved.key, only: resolved.worker });
}

/** Puts `count` requests for a model at a worker. */
export function busy(at: Farm, worker: string, count: number, name = "m"): void {
  for (let i = 0; i < count; i += 1) at.inflight.enter(worker, nameKey(name));
}

/** The choice of a decision that must be one. */
export function sent(decision: Decision): Choice {
  if (decision.kind !== "send") throw new Error(`not sent: ${JSON.stringify(decision)}`);
  return decision.choice;
}
