import { nameKey } from "@farmgate/shared";
import type { CatalogModel } from "@farmgate/engines";
import type { WorkerEntry } from "../catalog/types.ts";
import type { Farm } from "../farm.ts";
import type { Call } from "../proxy/call.ts";
import { routingContext } from "../proxy/routing-context.ts";
import { modelSlots, workerSlots } from "../routing/capacity.ts";
import { standingWith } from "../routing/standing.ts";
import type { RoutingRequest } from "../routing/types.ts";
import type { PairNow, UnderWay } from "./instances.ts";
import { tokensOf } from "../tokens-of-bytes.ts";

/** The workers of the two best sets for the request, as they stand at this moment. */
export function pairsNow(farm: Farm, request: RoutingRequest): PairNow[] {
  const context = routingContext(farm, 0);
  const placed = callsByPlace(farm);
  const pairs: PairNow[] = [];
  for (const entry of farm.catalog.current.workers) {
    const model = entry.byKey.get(request.key);
    const { set } = standingWith(entry, model, request, context);
    if (set !== "leading" && set !== "loading") continue;
    const { name } = entry.config;
    const rate = farm.pairRates.of(name, ownKey(request, model));
    const underWay = underWayAt(farm, entry, model, request, placed.get(name) ?? []);
    const loadMs = set === "loading" ? loadLeftMs(model, underWay, context.now) : 0;
    pairs.push({ worker: name, slots: slotsOf(entry, model), underWay, loadMs, rate });
  }
  return pairs;
}

/** Requests that have a place, by its worker: most of many are those that wait. */
function callsByPlace({ live }: Farm): Map<string, Call[]> {
  const placed = new Map<string, Call[]>();
  for (const call of live.all()) {
    if (call.place === null) continue;
    const there = placed.get(call.place);
    if (there === undefined) placed.set(call.place, [call]);
    else there.push(call);
  }
  return placed;
}

/** Slots of the model's own hold its own requests, those of the whole worker hold all. */
function underWayAt(
  farm: Farm,
  entry: WorkerEntry,
  model: CatalogModel | undefined,
  request: RoutingRequest,
  calls: readonly Call[],
): UnderWay[] {
  const { name } = entry.config;
  const own = modelSlots(model ?? null) !== null;
  const key = ownKey(request, model);
  const found = calls
    .filter((call) => !own || nameKey(call.upstreamModel) === key)
    .map((call) => ({
      sentAt: call.askedAt ?? farm.clock.now(),
      firstByteAt: call.firstByteAt,
      tokens: tokensOf(call.sent?.bytes ?? 0),
    }))
    .sort((a, b) => a.sentAt - b.sentAt);
  // A place that was just taken is counted before its request has been sent.
  const counted = own ? farm.inflight.pair(name, request.key) : farm.inflight.worker(name);
  while (found.length < counted) found.push({ sentAt: farm.clock.now(), firstByteAt: null, tokens: 0 });
  return found;
}

/** What is left of a load that began when the first request was sent there; where none was, all of it may be. */
function loadLeftMs(model: CatalogModel | undefined, [first]: readonly UnderWay[], now: number): number {
  return Math.max(0, (model?.loadMs ?? 0) - (first === undefined ? 0 : now - first.sentAt));
}

function slotsOf(entry: WorkerEntry, model: CatalogModel | undefined): number | null {
  const slots = modelSlots(model ?? null) ?? workerSlots(entry);
  const { maxConcurrent } = entry.config;
  if (maxConcurrent === 0) return slots === null ? null : Math.max(1, Math.round(slots));
  return Math.max(1, Math.round(Math.min(slots ?? maxConcurrent, maxConcurrent)));
}

/** What was learned is kept under the worker's own name for the model. */
function ownKey(request: RoutingRequest, model: CatalogModel | undefined): string {
  return model === undefined ? request.key : nameKey(model.id);
}
