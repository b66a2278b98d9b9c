import { adapterFor, type CatalogModel } from "@farmgate/engines";
import type { WorkerEntry } from "../catalog/types.ts";

/** What loading a model does to what its worker has loaded: `unknown` where the worker does not tell. */
export type Fit = "fits" | "unknown" | "evicts";

/**
 * Whether the worker can load the model beside what it has loaded:
 *
 * 1. An engine that swaps unseen holds one model.
 * 2. No memory figures: unknown.
 * 3. An agent without a budget holds one swappable model at a time.
 * 4. With a budget: by bytes; a model whose size is not known is taken to need the whole of it, as the agent does.
 */
export function fitOf(entry: WorkerEntry, model: CatalogModel): Fit {
  // 1
  if (entry.engine !== null && adapterFor(entry.engine).swapsUnseen) return afterSwap(entry, model);
  // 2
  const memory = entry.report?.memory ?? null;
  if (memory === null) return "unknown";
  // 3
  if (memory.budgetBytes === 0) return afterSwap(entry, model);
  // 4
  const needed = model.memoryBytes ?? memory.budgetBytes;
  return memory.usedBytes + needed > memory.budgetBytes ? "evicts" : "fits";
}

/** What may have to go for the model: which of them, the worker decides. */
export function mayGoFor(entry: WorkerEntry, model: CatalogModel): readonly CatalogModel[] {
  return (entry.report?.models ?? []).filter((other) => isSwappable(other, model));
}

function afterSwap(entry: WorkerEntry, model: CatalogModel): Fit {
  for (const other of entry.report?.models ?? []) if (isSwappable(other, model)) return "evicts";
  return "fits";
}

function isSwappable(other: CatalogModel, model: CatalogModel): boolean {
  return other !== model && !other.pinned && (other.state === "warm" || other.state === "loading");
}
