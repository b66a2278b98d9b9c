import type { ModelState } from "@farmgate/shared";
import type { CatalogModel } from "@farmgate/engines";
import type { WorkerEntry } from "./types.ts";

/** Where a model stands on its worker, for people: of one that does not answer any more, nobody knows. */
export function knownState({ health }: WorkerEntry, { state }: CatalogModel): ModelState {
  return health === "unhealthy" || health === "misconfigured" ? "unknown" : state;
}
