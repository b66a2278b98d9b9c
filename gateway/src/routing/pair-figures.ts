import { nameKey } from "@farmgate/shared";
import type { CatalogModel } from "@farmgate/engines";
import type { WorkerEntry } from "../catalog/types.ts";
import { isAtCap, modelSlots, workerSlots } from "./capacity.ts";
import type { Pricing } from "./types.ts";
import type { Line, SwapFigures, WaitFigures } from "./wait-or-swap.ts";

/** A worker with the model of a request. */
export interface Pair {
  entry: WorkerEntry;
  /** null: its catalogue does not list it. */
  model: CatalogModel | null;
  /** `nameKey` of the name that was asked for. */
  key: string;
}

/**
 * What waiting there is weighed by. Figures that the worker tells come before what was learned here. `ahead` are the
 * requests that wait at the gateway and would come before this one there.
 */
export function waitFigures(pair: Pair, pricing: Pricing, ahead: number): WaitFigures {
  const { entry, model } = pair;
  const { inflight } = pricing;
  const own = modelSlots(model);
  const slots = own ?? workerSlots(entry);
  const busy = own === null ? inflight.worker(entry.config.name) : ours(pair, inflight.pairs(entry.config.name));
  const line = slots === null ? null : lineAt(pair, pricing, slots, busy + ahead);
  return {
    forecastMs: forecastMs(pair),
    sentSince: sentSince(pair, pricing) + ahead,
    slots: line,
    cap: isAtCap(entry, pricing) ? capLine(entry, pricing, ahead) : null,
  };
}

/** What loading it there is weighed by. Where slots are not known, one is sure. `othersMs` holds all other models. */
export function swapFigures(pair: Pair, pricing: Pricing): SwapFigures {
  const { entry, model, key } = pair;
  const here = ours(pair, pricing.inflight.pairs(entry.config.name));
  return {
    forecastMs: forecastMs(pair),
    sentSince: sentSince(pair, pricing),
    slots: lineAt(pair, pricing, modelSlots(model) ?? workerSlots(entry) ?? 1, here),
    loadMs: model?.loadMs ?? pricing.learned.of(entry.config.name, ownKey(model, key))?.loadMs ?? null,
    othersMs: mustMakeRoom(pair) ? othersMs(pair, pricing) : 0,
  };
}

/** `busy` of the places by requests from here; what its catalogue says waits there from elsewhere is added. */
function lineAt(pair: Pair, pricing: Pricing, places: number, busy: number): Line {
  const { entry, model, key } = pair;
  const { name } = entry.config;
  const then = ours(pair, pricing.inflight.atPoll(name) ?? pricing.inflight.pairs(name));
  const queued = entry.catalog === "unreachable" ? 0 : (model?.queued ?? 0);
  const fromElsewhere = Math.max(0, queued - Math.max(0, then - places));
  return { places, ahead: busy + fromElsewhere, serviceMs: serviceMs(entry, key, pricing) };
}

/** Any request that ends makes room for the next one, whatever its model. */
function capLine(entry: WorkerEntry, pricing: Pricing, ahead: number): Line {
  const { config } = entry;
  const { inflight } = pricing;
  let sum: number | null = 0;
  for (const [key, count] of inflight.pairs(config.name)) {
    const service = serviceMs(entry, key, pricing);
    sum = sum === null || service === null ? null : sum + count * service;
  }
  const here = inflight.worker(config.name);
  return { places: config.maxConcurrent, ahead: here + ahead, serviceMs: sum === null ? null : sum / here };
}

function serviceMs(entry: WorkerEntry, key: string, { learned }: Pricing): number | null {
  const model = entry.byKey.get(key) ?? null;
  return model?.serviceMs ?? learned.of(entry.config.name, ownKey(model, key))?.serviceMs ?? null;
}

/** An agent's forecast, of its last good catalogue; one of unknown age is none. */
function forecastMs({ entry, model }: Pair): number | null {
  return entry.catalog === "unreachable" ? null : (model?.predictedWaitMs ?? null);
}

/** A worker whose catalogue was not asked for yet with this in use: nothing. */
function sentSince(pair: Pair, { inflight }: Pricing): number {
  const { name } = pair.entry.config;
  const then = inflight.atPoll(name);
  return then === null ? 0 : ours(pair, inflight.pairs(name)) - ours(pair, then);
}

/** Requests for the model, by whichever of its names. */
function ours({ entry, model, key }: Pair, counts: ReadonlyMap<string, number>): number {
  if (model === null) return counts.get(key) ?? 0;
  let sum = 0;
  for (const [name, count] of counts) if (entry.byKey.get(name) === model) sum += count;
  return sum;
}

/** Whether the model does not fit beside the others; what is not known is taken not to. */
function mustMakeRoom({ entry, model }: Pair): boolean {
  const memory = entry.report?.memory ?? null;
  if (memory === null || memory.budgetBytes === 0) return true;
  return memory.usedBytes + (model?.memoryBytes ?? memory.budgetBytes) > memory.budgetBytes;
}

/**
 * Until what was sent there for other models has ended, one model after the other. A forecast holds what was there
 * when it was made, so that only later requests are added to it.
 */
function othersMs(pair: Pair, pricing: Pricing): number | null {
  const { entry, model } = pair;
  const { name } = entry.config;
  const counts = pricing.inflight.pairs(name);
  const held = forecastMs(pair) === null ? null : (pricing.inflight.atPoll(name) ?? counts);
  let sum = 0;
  for (const [key, count] of counts) {
    const other = entry.byKey.get(key) ?? null;
    const more = count - (held?.get(key) ?? 0);
    if ((other === null ? key === pair.key : other === model) || more <= 0) continue;
    const service = serviceMs(entry, key, pricing);
    if (service === null) return null;
    sum += Math.ceil(more / (modelSlots(other) ?? 1)) * service;
  }
  return sum;
}

/** What was learned is kept under the worker's own name for the model. */
function ownKey(model: CatalogModel | null, key: string): string {
  return model === null ? key : nameKey(model.id);
}
