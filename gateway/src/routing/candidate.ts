import type { CatalogModel } from "@farmgate/engines";
import { nameKey } from "@farmgate/shared";
import type { WorkerEntry } from "../catalog/types.ts";
import { isTrialDue } from "./breaker.ts";
import { capacity, hasFreeSlot } from "./capacity.ts";
import { droppedBy } from "./dropped-copy.ts";
import { describeStanding, type Standing } from "./standing.ts";
import type { Choice, RoutingContext, RoutingRequest, Strategy, Warmth, Weighed } from "./types.ts";
import { apiFor } from "./ways.ts";

/** One worker of the best set so far, with what orders it there. Two of these serve a whole choice. */
export interface Candidate {
  entry: WorkerEntry | null;
  model: CatalogModel | null;
  standing: Standing | null;
  refused: boolean;
  /** A model in use whose last warm copy may go when this worker loads the one asked for. */
  drops: CatalogModel | null;
  holdsPrefix: boolean;
  /** It is aside for the model, and this request would be its trial. */
  isTrial: boolean;
  /** What the strategy compares: load for its capacity, or turns. Lower goes first. */
  measure: number;
  /** NaN until a tie asks for it. */
  pass: number;
}

/** Warmer goes first. Only those with an open breaker stand together in more than two kinds. */
const WARMTH_RANK: Readonly<Record<Warmth, number>> = { warm: 0, "possibly-warm": 1, loading: 2, cold: 3, unlisted: 4 };

/** The share that the strategy gives a worker, above 0. */
function turnWeight(entry: WorkerEntry, model: CatalogModel | null, strategy: Strategy): number {
  switch (strategy) {
    case "least-connections":
      return capacity(entry, model);
    case "weighted":
      return entry.config.weight ?? 1;
    case "round-robin":
      return 1;
  }
}

export function weigh(
  candidate: Candidate,
  entry: WorkerEntry,
  model: CatalogModel | null,
  standing: Standing,
  request: RoutingRequest,
  context: RoutingContext,
): void {
  const { name } = entry.config;
  const inflight = context.inflight.worker(name);
  candidate.entry = entry;
  candidate.model = model;
  candidate.standing = standing;
  candidate.refused = entry.refused;
  candidate.drops = droppedBy(entry, model, standing, context);
  candidate.holdsPrefix = request.prefixWorker === name && hasFreeSlot(entry, model, inflight, request, context);
  candidate.isTrial = entry.breakers.size > 0 && isTrialOf(entry, model, request.key, context.now);
  candidate.pass = Number.NaN;
  if (context.strategy === "least-connections") {
    // What hangs there from before says nothing of how it is now, and would keep it from ever being tried.
    candidate.measure = candidate.isTrial ? 0 : inflight / capacity(entry, model);
  } else {
    candidate.measure = context.turns.pass(name, request.key);
  }
}

function isTrialOf({ breakers }: WorkerEntry, model: CatalogModel | null, key: string, now: number): boolean {
  const breaker = breakers.get(model === null ? key : nameKey(model.id));
  return breaker !== undefined && isTrialDue(breaker, now);
}

export function goesBefore(a: Candidate, b: Candidate, key: string, context: RoutingContext): boolean {
  if (a.refused !== b.refused) return b.refused;
  if ((a.drops === null) !== (b.drops === null)) return a.drops === null;
  if (a.holdsPrefix !== b.holdsPrefix) return a.holdsPrefix;
  if (a.measure !== b.measure) return a.measure < b.measure;
  const warmer = WARMTH_RANK[a.standing?.warmth ?? "unlisted"] - WARMTH_RANK[b.standing?.warmth ?? "unlisted"];
  if (warmer !== 0) return warmer < 0;
  return passOf(a, key, context) < passOf(b, key, context);
}

function passOf(candidate: Candidate, key: string, context: RoutingContext): number {
  if (Number.isNaN(candidate.pass)) candidate.pass = context.turns.pass(candidate.entry?.config.name ?? "", key);
  return candidate.pass;
}

export function toChoice(
  entry: WorkerEntry,
  standing: Standing,
  order: string,
  weighed: Weighed | null,
  request: RoutingRequest,
  context: RoutingContext,
): Choice {
  const model = entry.byKey.get(request.key) ?? null;
  const api = apiFor(entry, request, context.now);
  const told = api === request.api ? "" : `; asked as ${api}`;
  return {
    worker: entry,
    model,
    upstreamModel: model?.id ?? request.name,
    api,
    set: standing.set ?? "unlisted",
    warmth: standing.warmth,
    turnWeight: turnWeight(entry, model, context.strategy),
    reason: `${describeStanding(standing, entry, request, context.now)}; ${order}${told}`,
    weighed,
  };
}

export function orderReason(best: Candidate, rivals: number, request: RoutingRequest, context: RoutingContext): string {
  const { entry } = best;
  if (entry === null) return "";
  const refused = best.refused ? ", although it refused the last connection" : "";
  const but = best.drops === null ? refused : `${refused}, although ${dropsWords(best.drops)}`;
  if (best.isTrial) return `its trial is due${but}`;
  if (best.holdsPrefix) return `it answered this conversation before${but}`;
  if (rivals === 1) return `the only such worker with room${but}`;
  if (context.strategy === "round-robin") return `its turn among ${rivals}${but}`;
  if (context.strategy === "weighted") return `its turn among ${rivals} (weight ${entry.config.weight ?? 1})${but}`;
  const inflight = context.inflight.worker(entry.config.name);
  const room = capacity(entry, entry.byKey.get(request.key) ?? null);
  return `least loaded of ${rivals} (${inflight} in flight, capacity ${room})${but}`;
}

export function dropsWords(dropped: CatalogModel): string {
  return `loading it here would drop the farm's last warm copy of ${dropped.id}`;
}

export function noCandidate(): Candidate {
  return {
    entry: null,
    model: null,
    standing: null,
    refused: false,
    drops: null,
    holdsPrefix: false,
    isTrial: false,
    measure: 0,
    pass: Number.NaN,
  };
}
