import type { CatalogModel } from "@farmgate/engines";
import type { WorkerEntry } from "../catalog/types.ts";
import type { RoutingContext, RoutingRequest } from "./types.ts";

/** Requests that a worker takes at once: what its owner says, else what it reports, else 1. */
export function capacity(entry: WorkerEntry, model: CatalogModel | null): number {
  return entry.config.weight ?? reportedSlots(entry, model) ?? 1;
}

/** Whether it has as many requests as its owner allows; of a gateway that cannot hear the others, as many as its share. */
export function isAtCap({ config }: WorkerEntry, { inflight, share }: CapsView): boolean {
  const { name, maxConcurrent } = config;
  if (maxConcurrent === 0) return false;
  if (share === undefined) return inflight.worker(name) >= maxConcurrent;
  return share.own(name) >= Math.max(1, Math.floor(maxConcurrent / share.members));
}

type CapsView = Pick<RoutingContext, "inflight" | "share">;

/** What it reports comes first here: a conversation must not queue where no slot is. Nothing known: free. */
export function hasFreeSlot(
  entry: WorkerEntry,
  model: CatalogModel | null,
  inflight: number,
  request: RoutingRequest,
  context: Pick<RoutingContext, "inflight">,
): boolean {
  const slots = modelSlots(model);
  if (slots !== null) return context.inflight.pair(entry.config.name, request.key) < slots;
  return inflight < (workerSlots(entry) ?? Number.POSITIVE_INFINITY);
}

/** Slots of the model's own; null: not told. */
export function modelSlots(model: CatalogModel | null): number | null {
  return model?.slots != null && model.slots > 0 ? model.slots : null;
}

/** Slots that all models of the worker share: what it reports, else what its owner says; null: not known. */
export function workerSlots(entry: WorkerEntry): number | null {
  return reportedSlots(entry, null) ?? entry.config.weight;
}

function reportedSlots(entry: WorkerEntry, model: CatalogModel | null): number | null {
  const slots = model?.slots ?? entry.report?.slots ?? null;
  return slots !== null && slots > 0 ? slots : null;
}
