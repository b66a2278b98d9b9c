import type { CatalogModel } from "@farmgate/engines";
import type { WorkerEntry } from "../catalog/types.ts";
import { wouldDropLastCopy } from "../placement/last-copies.ts";
import type { Standing } from "./standing.ts";
import type { RoutingContext } from "./types.ts";

/** The model whose last warm copy in the farm may go when the request is sent there; null: none. */
export function droppedBy(
  entry: WorkerEntry,
  model: CatalogModel | null,
  standing: Standing,
  { lastCopies, catalog, now }: RoutingContext,
): CatalogModel | null {
  if (standing.set !== "cold" || model === null || lastCopies === undefined) return null;
  return wouldDropLastCopy(entry, model, lastCopies.on(entry.config.name, catalog, now));
}
