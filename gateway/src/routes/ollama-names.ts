/** A model's name as Ollama shows it: always with a tag. */
export function withTag(name: string): string {
  return name.lastIndexOf(":") > name.lastIndexOf("/") ? name : `${name}:latest`;
}

/**
 * What Ollama calls a model's family or architecture, guessed from its name: `qwen3` of `org/Qwen3-4B`. For clients to
 * show, and to find a context length by; models for embeddings they know by the name `bert`.
 */
export function familyOf(name: string, kind: string): string {
  if (kind === "embeddings") return "bert";
  const last = name.slice(name.lastIndexOf("/") + 1).toLowerCase();
  return /^[a-z]+\d*/.exec(last)?.[0] ?? "unknown";
}

const SIZE = /(?:^|[-_:/])((?:\d+x)?\d+(?:\.\d+)?[bm])(?![a-z0-9])/i;

/** `4B` of `qwen3-4b`; empty: the name does not say. */
export function parameterSize(name: string): string {
  return SIZE.exec(name)?.[1]?.toUpperCase().replace("X", "x") ?? "";
}

/** The same as a number; null: the name does not say. */
export function parameterCount(name: string): number | null {
  const parts = /^(?:(\d+)x)?(\d+(?:\.\d+)?)([BM])$/.exec(parameterSize(name));
  if (parts === null) return null;
  const [, times = "1", size = "0", unit] = parts;
  return Math.round(Number(times) * Number(size) * (unit === "B" ? 1e9 : 1e6));
}
