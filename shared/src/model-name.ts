/**
 * The key under which spellings of one model meet: case and a trailing `:latest` make no difference.
 * `llama3.2`, `LLAMA3.2` and `llama3.2:latest` share a key; `qwen3:8b` and `qwen3:4b` do not.
 */
export function nameKey(name: string): string {
  const lower = name.toLowerCase();
  return lower.endsWith(":latest") ? lower.slice(0, -":latest".length) : lower;
}

/** At most `limit` of `known` that look like `name`, nearest first: for "did you mean". */
export function closeNames(name: string, known: Iterable<string>, limit = 3): string[] {
  const wanted = nameKey(name).slice(0, 200);
  const scored: { name: string; distance: number }[] = [];
  for (const candidate of known) {
    const key = nameKey(candidate);
    const inside = wanted.length >= 3 && (key.includes(wanted) || wanted.includes(key));
    const distance = inside ? 0.5 : editDistance(wanted, key.slice(0, 200));
    if (inside || distance <= Math.max(2, Math.floor(wanted.length / 3))) scored.push({ name: candidate, distance });
  }
  return scored
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, limit)
    .map((entry) => entry.name);
}

/** Levenshtein distance, one row at a time (Wagner and Fischer 1974). */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const current = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min((previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1, change));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
