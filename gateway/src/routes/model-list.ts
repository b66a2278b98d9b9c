import { closeNames, FarmError, nameKey } from "@farmgate/shared";
import type { Catalog, UnionModel } from "../catalog/types.ts";
import { keyAllows, type NameRules, resolveName } from "../routing/resolve-name.ts";

/** One entry of `GET /v1/models` (contract section 4). */
export interface ModelListEntry {
  id: string;
  object: "model";
  /** Seconds since the Unix epoch. */
  created: number;
  owned_by: "farmgate";
  farmgate: { workers: readonly string[]; warm: readonly string[]; kind: string; context_length: number | null };
}

/** What a list is made of: the farm's state and who asks for it. */
export interface ModelListSource {
  catalog: Catalog;
  names: NameRules;
  /** What the key allows, as patterns. */
  patterns: readonly string[];
  created: number;
}

/** The union of all workers' catalogues, and the owner's aliases for what is in it; sorted by id. */
export function modelList(source: ModelListSource): ModelListEntry[] {
  const { union } = source.catalog;
  const entries: ModelListEntry[] = [];
  for (const model of new Set(union.values())) {
    if (keyAllows(source.patterns, resolveName(model.id, source.names), union))
      entries.push(toEntry(model.id, model, source));
  }
  const listed = new Set(entries.map(({ id }) => nameKey(id)));
  for (const [alias, name] of source.names.aliases) {
    const model = union.get(nameKey(name));
    if (model === undefined || listed.has(alias)) continue;
    if (keyAllows(source.patterns, resolveName(alias, source.names), union))
      entries.push(toEntry(alias, model, source));
  }
  return entries.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** One model, by any spelling that would be served; the entry carries the spelling of the list. Throws 404. */
export function findModel(asked: string, source: ModelListSource): ModelListEntry {
  const { union } = source.catalog;
  const resolved = resolveName(asked, source.names);
  const model = union.get(resolved.key);
  if (model !== undefined && keyAllows(source.patterns, resolved, union)) {
    const isAlias = resolved.key !== nameKey(asked);
    return toEntry(isAlias ? nameKey(asked) : model.id, model, source);
  }
  const close = closeNames(
    asked,
    modelList(source).map(({ id }) => id),
  );
  const hint = close.length === 0 ? "" : ` Close to it: ${close.map((name) => `"${name}"`).join(", ")}.`;
  throw new FarmError("model_not_found", `No worker has the model "${asked.slice(0, 200)}".${hint}`, {
    param: "model",
  });
}

function toEntry(id: string, model: UnionModel, { created }: ModelListSource): ModelListEntry {
  const { workers, warm, kind, contextLength } = model;
  const farmgate = { workers, warm, kind, context_length: contextLength };
  return { id, object: "model", created, owned_by: "farmgate", farmgate };
}
