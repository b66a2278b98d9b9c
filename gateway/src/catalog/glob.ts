import { nameKey } from "@farmgate/shared";

/**
 * Whether a worker's owner lets a model be sent there: one of its names is allowed and none is denied.
 * `*` stands for any text; case and a trailing `:latest` make no difference.
 */
export function isAllowed(
  rules: { allow: readonly string[]; deny: readonly string[] },
  names: readonly string[],
): boolean {
  const named = (patterns: readonly string[]) => patterns.some((pattern) => names.some((name) => fits(pattern, name)));
  return named(rules.allow) && !named(rules.deny);
}

function fits(pattern: string, name: string): boolean {
  return globMatches(pattern.toLowerCase(), name.toLowerCase()) || globMatches(nameKey(pattern), nameKey(name));
}

/**
 * Wildcard matching with one backtrack point, the last `*`: linear memory, at most length times length steps,
 * whatever the pattern (R. Sedgewick's greedy two-pointer form).
 */
export function globMatches(pattern: string, text: string): boolean {
  let p = 0;
  let t = 0;
  let star = -1;
  let retry = 0;
  while (t < text.length) {
    if (pattern[p] === "*") {
      star = p;
      retry = t;
      p += 1;
    } else if (p < pattern.length && pattern[p] === text[t]) {
      p += 1;
      t += 1;
    } else if (star >= 0) {
      retry += 1;
      t = retry;
      p = star + 1;
    } else {
      return false;
    }
  }
  while (pattern[p] === "*") p += 1;
  return p === pattern.length;
}
