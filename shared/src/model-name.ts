/** Names in requests are no longer, in UTF-16 units: they travel in headers, messages and the log. */
export const MAX_MODEL_NAME = 500;

const LATEST = ":latest";

/**
 * What engines put before a model's name to say where it comes from: Ollama before models of Hugging Face and, as its
 * defaults, before its own; KoboldCpp before every name.
 */
const HOMES = ["hf.co/", "huggingface.co/", "registry.ollama.ai/", "library/", "koboldcpp/"];

/**
 * The key under which spellings of one model meet: case, a trailing `:latest` and where it comes from make no
 * difference. `llama3.2`, `LLAMA3.2`, `llama3.2:latest` and `library/llama3.2` share a key, and so do
 * `hf.co/org/M-GGUF:Q4_K_M` and `org/M-GGUF:Q4_K_M`; `qwen3:8b` and `qwen3:4b` do not.
 */
export function nameKey(name: string): string {
  return withoutHome(withoutLatest(name.toLowerCase()));
}

/** A lower-case name without `:latest` at its end. */
export function withoutLatest(name: string): string {
  let rest = name;
  while (rest.endsWith(LATEST)) rest = rest.slice(0, -LATEST.length);
  return rest;
}

/** A lower-case name without what says where it comes from; a name that is nothing else stays. */
export function withoutHome(name: string): string {
  let rest = name;
  while (rest.includes("/")) {
    const home = HOMES.find((one) => rest.length > one.length && rest.startsWith(one));
    if (home === undefined) break;
    rest = rest.slice(home.length);
  }
  return rest;
}

/** Names that differ in more letters than this are not close, however long they are. */
const MAX_DISTANCE = 10;

/** At most `limit` of `known` that look like `name`, nearest first: for "did you mean". */
export function closeNames(name: string, known: Iterable<string>, limit = 3): string[] {
  const wanted = nameKey(name).slice(0, 200);
  const limitOfDistance = Math.min(MAX_DISTANCE, Math.max(2, Math.floor(wanted.length / 3)));
  const scored: { name: string; distance: number }[] = [];
  for (const candidate of known) {
    const key = nameKey(candidate).slice(0, 200);
    const shorter = Math.min(wanted.length, key.length);
    const inside = shorter >= 3 && (key.includes(wanted) || wanted.includes(key));
    // Names of very different lengths are never near: no need to compare them, however many there are.
    if (shorter === 0 || (!inside && Math.abs(wanted.length - key.length) > limitOfDistance)) continue;
    const distance = inside ? 0.5 : editDistance(wanted, key, limitOfDistance);
    if (distance <= limitOfDistance && distance < shorter) scored.push({ name: candidate, distance });
  }
  return scored
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, limit)
    .map((entry) => entry.name);
}

/**
 * Levenshtein distance up to `limit`, and anything above that beyond it: row by row, of each only the cells that can
 * still stay within the limit (Ukkonen, "Algorithms for approximate string matching", 1985).
 */
function editDistance(a: string, b: string, limit: number): number {
  const over = limit + 1;
  let previous = Array.from({ length: b.length + 1 }, (_, j) => Math.min(j, over));
  let current = Array.from({ length: b.length + 1 }, () => over);
  for (let i = 1; i <= a.length; i += 1) {
    const from = Math.max(1, i - limit);
    const to = Math.min(b.length, i + limit);
    let best = from === 1 ? i : over;
    current[from - 1] = best;
    for (let j = from; j <= to; j += 1) {
      const change = (previous[j - 1] ?? over) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const distance = Math.min(change, (previous[j] ?? over) + 1, (current[j - 1] ?? over) + 1);
      current[j] = distance;
      best = Math.min(best, distance);
    }
    if (best > limit) return over;
    // The next row reads one cell further.
    if (to < b.length) current[to + 1] = over;
    [previous, current] = [current, previous];
  }
  return previous[b.length] ?? over;
}
