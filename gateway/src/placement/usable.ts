import { nameKey } from "@farmgate/shared";
import type { WorkerEntry } from "../catalog/types.ts";

/**
 * Why the next request for the model cannot count on this worker, in words that follow its name; null: it can. A
 * worker that refused a connection is not counted on before its next good poll, although routing still tries it last.
 * One that is alive but busy may miss to tell its catalogue now and then: until it is unhealthy its last one counts, or
 * else each such moment would load a copy somewhere.
 */
export function whyOut(entry: WorkerEntry, key: string, now: number): string | null {
  if (entry.health === "unhealthy") return "is unhealthy";
  if (entry.health === "misconfigured") return "is misconfigured";
  if (entry.health === "unknown") return "has not answered yet";
  if (entry.draining) return "is draining";
  if (entry.refused) return "refused the last connection";
  const aside = entry.asideUntil.get(key);
  if (aside !== undefined && aside.until > now && aside.apis === undefined) return "is set aside for it";
  const model = entry.byKey.get(key);
  if (model !== undefined && entry.breakers.get(nameKey(model.id))?.openUntil != null) return "fails with it";
  return null;
}

/** Whether the worker has a copy of the model that the next request can count on. */
export function hasWarmCopy(entry: WorkerEntry, key: string, now: number): boolean {
  return entry.byKey.get(key)?.state === "warm" && whyOut(entry, key, now) === null;
}
