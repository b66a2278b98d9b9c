import { nameKey, withoutHome, withoutLatest } from "./model-name.ts";

/**
 * Whether a pattern of the configuration (`models` of a key or of a worker) means this model. `*` stands for any
 * characters, also none and also `/`; case, a trailing `:latest` and where a model comes from make no difference, as in
 * `nameKey`. (1) The pattern as it is means the model's key. (2) So does `hf.co/org/*`, which means `org/*`; but
 * `hf.co/*` does not mean all names. (3) It means the name as it is spelled here.
 */
export function globMatches(pattern: string, model: string): boolean {
  if (pattern === "*") return true;
  const wanted = pattern.toLowerCase();
  const key = nameKey(model);
  if (means(wanted, key)) return true; // (1)
  const bare = withoutHome(wanted);
  if (bare !== wanted && !bare.startsWith("*") && means(bare, key)) return true; // (2)
  const spelled = withoutLatest(model.toLowerCase());
  return spelled !== key && means(wanted, spelled); // (3)
}

function means(wanted: string, name: string): boolean {
  if (matches(wanted, name)) return true;
  // `*:latest` means names without another tag, not all names.
  const hasTag = name.lastIndexOf(":") > name.lastIndexOf("/");
  return !hasTag && wanted.endsWith(":latest") && matches(withoutLatest(wanted), name);
}

/** Whether one of the patterns means this model. */
export function anyGlobMatches(patterns: readonly string[], model: string): boolean {
  return patterns.some((pattern) => globMatches(pattern, model));
}

/** Compares piece by piece, going back to the last `*` alone: time is at most pattern times text, never more. */
function matches(pattern: string, text: string): boolean {
  let p = 0;
  let t = 0;
  let star = -1;
  let resume = 0;
  while (t < text.length) {
    if (pattern[p] === "*") {
      star = p;
      resume = t;
      p += 1;
    } else if (pattern[p] === text[t]) {
      p += 1;
      t += 1;
    } else if (star >= 0) {
      resume += 1;
      t = resume;
      p = star + 1;
    } else {
      return false;
    }
  }
  while (pattern[p] === "*") p += 1;
  return p === pattern.length;
}
