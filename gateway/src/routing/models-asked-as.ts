import type { Api } from "@farmgate/shared";
import type { Catalog, WorkerEntry } from "../catalog/types.ts";
import { keyAllows, type NameRules, resolveName } from "./resolve-name.ts";
import { speaks } from "./ways.ts";

/**
 * The models that can be asked in one of these ways, as the list spells them and in its order: those of workers that are
 * well, or of all where there are none, and of them those that the key's patterns allow.
 */
export function modelsAskedAs(
  ways: readonly Api[],
  catalog: Catalog,
  names: NameRules,
  patterns: readonly string[],
): string[] {
  const { workers, union } = catalog;
  const found = new Set<string>();
  const well = workers.filter(({ health }) => health === "healthy");
  for (const group of [well, workers]) {
    if (found.size > 0) break;
    for (const id of group.flatMap((worker) => [...spokenThere(worker, ways)])) {
      const resolved = resolveName(id, names, catalog);
      if (keyAllows(patterns, resolved, union)) found.add(union.get(resolved.key)?.id ?? id);
    }
  }
  return [...found].sort();
}

/** The worker's own names for its models, each once. */
function spokenThere(worker: WorkerEntry, ways: readonly Api[]): Set<string> {
  const ids = new Set<string>();
  for (const model of worker.byKey.values()) {
    if (ways.some((api) => speaks(worker, model, api))) ids.add(model.id);
  }
  return ids;
}
