import type { CatalogModel } from "@farmgate/engines";
import type { WorkerEntry } from "./types.ts";

/** The worker's model of this name (by `nameKey`), be it the model's own or another that the worker has for it. */
export function namedModel({ byKey, byAlias }: WorkerEntry, key: string): CatalogModel | undefined {
  return byKey.get(key) ?? byAlias.get(key);
}
