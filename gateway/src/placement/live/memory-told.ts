import type { WorkerEntry } from "../../catalog/types.ts";

/** The most that any catalogue says the model takes, in bytes; null: none says it. */
export function memoryTold(copies: readonly WorkerEntry[], key: string): number | null {
  const told = copies.flatMap(({ byKey }) => byKey.get(key)?.memoryBytes ?? []);
  return told.length === 0 ? null : Math.max(...told);
}
