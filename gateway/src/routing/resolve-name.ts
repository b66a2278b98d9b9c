import { anyGlobMatches, nameKey } from "@farmgate/shared";
import type { Catalog, UnionModel, WorkerEntry } from "../catalog/types.ts";

/** The owner's names (contract section 2, `models`), ready for look-ups. */
export interface NameRules {
  /** nameKey of the caller's name -> catalogue name. */
  aliases: ReadonlyMap<string, string>;
  /** nameKey of a catalogue name or an alias -> what is tried after it, in order. */
  fallbacks: ReadonlyMap<string, readonly string[]>;
}

/** What a caller's name means here. */
export interface ResolvedName {
  /** As the caller spelled it. */
  asked: string;
  /** `nameKey` of that, without the worker that it may name. */
  plain: string;
  /** `nameKey` of the model that is meant, by whichever of its workers' names for it; the owner's alias is resolved. */
  called: string;
  /** The catalogue name. */
  name: string;
  /** `nameKey` of the catalogue name. */
  key: string;
  /** The one worker whose copy is asked for; null: any. */
  worker: string | null;
}

/** What of the catalogue tells the meaning of names. */
export type NameSource = Pick<Catalog, "workers" | "union" | "everListed" | "aliases">;

/** Reads `models.aliases` and `models.fallbacks` of the configuration. */
export function nameRules(models: {
  aliases: Readonly<Record<string, string>>;
  fallbacks: Readonly<Record<string, readonly string[]>>;
}): NameRules {
  return {
    aliases: new Map(Object.entries(models.aliases).map(([alias, name]) => [nameKey(alias), name])),
    fallbacks: new Map(Object.entries(models.fallbacks).map(([model, others]) => [nameKey(model), others])),
  };
}

/** What the owner's aliases make of a name. An alias stands for one model, never for another alias. */
export function ownersName(asked: string, rules: NameRules): string {
  return rules.aliases.get(nameKey(asked)) ?? asked;
}

/**
 * The model behind a caller's name:
 *
 * 1. The owner's alias comes before everything.
 * 2. `model@worker` is that worker's copy, where the worker is configured and no model has the whole for its name.
 *    The part before it may be the owner's alias as well.
 * 3. A model's own name is that model, whatever workers have it for an alias of.
 * 4. A worker's alias is that worker's model, where the worker was named; else the one model that all workers which
 *    have the alias mean by it. They mean several: the name stays as it is, and routing refuses it.
 */
export function resolveName(asked: string, rules: NameRules, source: NameSource): ResolvedName {
  // 1
  const whole = ownersName(asked, rules);
  // 2
  const address = addressIn(whole, source);
  const base = address === null ? whole : ownersName(address.base, rules);
  const called = nameKey(base);
  // 3, 4
  const meant = aliasMeaning(called, source, address?.entry);
  return {
    asked,
    plain: address === null || whole !== asked ? nameKey(asked) : nameKey(address.base),
    called,
    name: meant?.id ?? base,
    key: meant?.key ?? called,
    worker: address?.entry.config.name ?? null,
  };
}

/** The model that a worker's alias stands for, at `entry` if that is given; null: it is no alias, or ambiguous. */
export function aliasMeaning(
  key: string,
  { aliases }: Pick<Catalog, "aliases">,
  entry?: WorkerEntry,
): { key: string; id: string } | null {
  const targets = aliases.get(key);
  if (targets === undefined) return null;
  const there = entry?.byAlias.get(key);
  if (there !== undefined) return { key: nameKey(there.id), id: there.id };
  return targets.length === 1 ? (targets[0] ?? null) : null;
}

function addressIn(
  name: string,
  { workers, union, everListed }: NameSource,
): { base: string; entry: WorkerEntry } | null {
  const at = name.lastIndexOf("@");
  if (at < 1) return null;
  const key = nameKey(name);
  if (union.has(key) || everListed.has(key)) return null;
  // Some clients add the tag to any name without one.
  const worker = name.slice(at + 1).replace(/:latest$/i, "");
  const entry = workers.find(({ config }) => config.name === worker);
  return entry === undefined ? null : { base: name.slice(0, at), entry };
}

/**
 * Whether an access key's `models` allow the name: by its catalogue name, by the main name of a model whose worker
 * knows it under this one too, or by an alias that is written out. A pattern does not reach through an alias of the
 * owner: who wrote `qwen*` did not think of an alias `qwen-best` that stands for another model. Which worker is asked,
 * and how the caller spells the name, makes no difference.
 */
export function keyAllows(
  patterns: readonly string[],
  name: ResolvedName,
  union: ReadonlyMap<string, UnionModel>,
): boolean {
  if (anyGlobMatches(patterns, name.called) || anyGlobMatches(patterns, name.key)) return true;
  const listed = union.get(name.key);
  if (listed !== undefined && anyGlobMatches(patterns, listed.id)) return true;
  const asked = nameKey(name.asked);
  return patterns.map(nameKey).some((written) => written === asked || written === name.plain);
}

/**
 * What to try, in order, when nothing can serve the model (`no_worker`, `model_not_found` or `load_failed`): the
 * fallbacks that the key allows. A fallback's own fallbacks are not followed. Who asks for one worker's copy gets those
 * that the owner wrote for that copy, and no others.
 */
export function fallbacksOf(
  name: ResolvedName,
  rules: NameRules,
  patterns: readonly string[],
  source: NameSource,
): ResolvedName[] {
  const ofModel = name.worker === null ? rules.fallbacks.get(name.key) : undefined;
  const others = rules.fallbacks.get(nameKey(name.asked)) ?? ofModel ?? [];
  const seen = new Set([identity(name)]);
  const allowed: ResolvedName[] = [];
  for (const other of others) {
    const resolved = resolveName(other, rules, source);
    if (seen.has(identity(resolved)) || !keyAllows(patterns, resolved, source.union)) continue;
    seen.add(identity(resolved));
    allowed.push(resolved);
  }
  return allowed;
}

function identity({ key, worker }: ResolvedName): string {
  return worker === null ? key : `${key}\n${worker}`;
}
