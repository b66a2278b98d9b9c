import { anyGlobMatches, nameKey } from "@farmgate/shared";
import type { UnionModel } from "../catalog/types.ts";

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
  /** The catalogue name. */
  name: string;
  /** `nameKey` of the catalogue name. */
  key: string;
}

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

/** The catalogue name behind a caller's name. An alias stands for one model, never for another alias. */
export function resolveName(asked: string, rules: NameRules): ResolvedName {
  const name = rules.aliases.get(nameKey(asked)) ?? asked;
  return { asked, name, key: nameKey(name) };
}

/**
 * Whether an access key's `models` allow the name: by its catalogue name, by the main name of a model whose worker
 * knows it under this one too, or by an alias that is written out. A pattern does not reach through an alias: the
 * owner who wrote `qwen*` did not think of an alias `qwen-best` that stands for another model.
 */
export function keyAllows(
  patterns: readonly string[],
  name: ResolvedName,
  union: ReadonlyMap<string, UnionModel>,
): boolean {
  if (anyGlobMatches(patterns, name.name)) return true;
  const listed = union.get(name.key);
  if (listed !== undefined && anyGlobMatches(patterns, listed.id)) return true;
  const asked = nameKey(name.asked);
  return patterns.some((pattern) => nameKey(pattern) === asked);
}

/**
 * What to try, in order, when nothing can serve the model (`no_worker`, `model_not_found` or `load_failed`): the
 * fallbacks that the key allows. A fallback's own fallbacks are not followed.
 */
export function fallbacksOf(
  name: ResolvedName,
  rules: NameRules,
  patterns: readonly string[],
  union: ReadonlyMap<string, UnionModel>,
): ResolvedName[] {
  const others = rules.fallbacks.get(nameKey(name.asked)) ?? rules.fallbacks.get(name.key) ?? [];
  const seen = new Set([name.key]);
  const allowed: ResolvedName[] = [];
  for (const other of others) {
    const resolved = resolveName(other, rules);
    if (seen.has(resolved.key) || !keyAllows(patterns, resolved, union)) continue;
    seen.add(resolved.key);
    allowed.push(resolved);
  }
  return allowed;
}
