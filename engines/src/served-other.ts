import { nameKey } from "@farmgate/shared";

/**
 * Whether an answer's `model` says that another model answered than the one that was asked for: LM Studio with one
 * model loaded serves any name by it. Spellings of one model are no difference: case, `:latest`, a publisher before
 * the name, a variant after it (`@q4_k_m`) and the number of a second copy (`:2`).
 * An answer without a name tells nothing: false.
 */
export function servedOther(asked: string, answered: string | null): boolean {
  if (answered === null || answered.trim() === "") return false;
  return bareName(asked) !== bareName(answered);
}

function bareName(name: string): string {
  const key = nameKey(name.trim())
    .replace(/:\d+$/, "")
    .replace(/@[^/@]+$/, "");
  return key.slice(key.lastIndexOf("/") + 1);
}

/** The `model` that a text names last, as the end of a stream or of a short answer; null: none is to be seen there. */
export function lastModelOf(text: string): string | null {
  let last: string | null = null;
  // In a text of the model these quotes would be escaped.
  for (const match of text.matchAll(/"model"\s*:\s*"([^"\\]{1,300})"/g)) last = match[1] ?? null;
  return last;
}
