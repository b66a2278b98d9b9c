import { anyGlobMatches, FarmError, nameKey } from "@farmgate/shared";
import type { Catalog, UnionModel, Variant } from "../catalog/types.ts";
import { ambiguousWords, lackingWords, unknownWords } from "../routing/not-found-words.ts";
import { keyAllows, type NameRules, ownersName, type ResolvedName, resolveName } from "../routing/resolve-name.ts";

/** One worker's copy of a model, under the name that addresses it. */
interface ToldVariant {
  id: string;
  worker: string;
  digest: string | null;
  quantization: string | null;
  context_length: number | null;
}

/** One entry of `GET /v1/models` (contract section 4). */
export interface ModelListEntry {
  id: string;
  object: "model";
  /** Seconds since the Unix epoch. */
  created: number;
  owned_by: "farmgate";
  farmgate: {
    workers: readonly string[];
    warm: readonly string[];
    kind: string;
    /** The smallest of all its workers. */
    context_length: number | null;
    /** Only where its workers have copies that differ. */
    variants?: readonly ToldVariant[];
  };
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
  const { catalog, names } = source;
  const { union } = catalog;
  const entries: ModelListEntry[] = [];
  const listed = new Set<string>();
  for (const model of new Set(union.values())) {
    if (!keyAllows(source.patterns, resolveName(model.id, names, catalog), union)) continue;
    listed.add(nameKey(model.id));
    entries.push(toEntry(model.id, model, source));
  }
  for (const alias of names.aliases.keys()) {
    const resolved = resolveName(alias, names, catalog);
    const model = union.get(resolved.key);
    if (model === undefined || !hasCopy(model, resolved) || listed.has(alias)) continue;
    if (keyAllows(source.patterns, resolved, union)) entries.push(namedEntry(alias, model, resolved, source));
  }
  return entries.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** One model, by any spelling that would be served; the entry carries the spelling of the list. Throws 404. */
export function findModel(asked: string, source: ModelListSource): ModelListEntry {
  const { catalog, names, patterns } = source;
  const resolved = resolveName(asked, names, catalog);
  const isAllowed = keyAllows(patterns, resolved, catalog.union);
  const model = isAllowed ? catalog.union.get(resolved.key) : undefined;
  if (model === undefined || !hasCopy(model, resolved)) throw notFound(resolved, isAllowed, source);
  const isOwners = ownersName(asked, names) !== asked;
  const listedAs = resolved.worker === null ? model.id : `${model.id}@${resolved.worker}`;
  return namedEntry(isOwners ? nameKey(asked) : listedAs, model, resolved, source);
}

/** Variants as they are told, under the names that address them. */
export function toldVariants(id: string, variants: readonly Variant[]): ToldVariant[] {
  return variants.map(({ worker, digest, quantization, contextLength }) => {
    return { id: `${id}@${worker}`, worker, digest, quantization, context_length: contextLength };
  });
}

function hasCopy({ workers }: UnionModel, { worker }: ResolvedName): boolean {
  return worker === null || workers.includes(worker);
}

function notFound(resolved: ResolvedName, isAllowed: boolean, source: ModelListSource): FarmError {
  const { key, name, worker } = resolved;
  const { union, aliases } = source.catalog;
  const model = union.get(key);
  const meant = aliases.get(key) ?? [];
  let words = unknownWords(
    resolved.asked,
    modelList(source).map(({ id }) => id),
  );
  if (isAllowed && worker !== null && model !== undefined) words = lackingWords(name, worker, model.workers);
  else if (isAllowed && meant.length > 1) {
    const known = meant.filter(({ id }) => anyGlobMatches(source.patterns, id));
    words = ambiguousWords(name, known);
  }
  return new FarmError("model_not_found", words, { param: "model" });
}

function toEntry(id: string, model: UnionModel, { created }: ModelListSource): ModelListEntry {
  const { workers, warm, kind, contextLength, variants } = model;
  const told = variants === null ? {} : { variants: toldVariants(model.id, variants) };
  const farmgate = { workers, warm, kind, context_length: contextLength, ...told };
  return { id, object: "model", created, owned_by: "farmgate", farmgate };
}

/** The entry of a name that may mean one worker's copy alone. */
function namedEntry(id: string, model: UnionModel, { worker }: ResolvedName, source: ModelListSource): ModelListEntry {
  if (worker === null) return toEntry(id, model, source);
  const entry = source.catalog.workers.find(({ config }) => config.name === worker);
  const copy = entry?.byKey.get(model.key);
  const alone = {
    ...model,
    workers: [worker],
    warm: model.warm.filter((name) => name === worker),
    kind: copy?.kind ?? model.kind,
    contextLength: copy?.contextLength ?? null,
    variants: model.variants?.filter((variant) => variant.worker === worker) ?? null,
  };
  return toEntry(id, alone, source);
}
