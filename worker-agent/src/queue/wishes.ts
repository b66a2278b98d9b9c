import type { ModelState } from "./model-state.ts";
import type { Models } from "./models.ts";
import { type Candidate, type Rooms, RoomTimes } from "./room-times.ts";

/** What to do about the loads that nobody waits for. */
export type WishStep =
  | { do: "admit"; candidate: Candidate; cause: string }
  /** A model that was to be loaded at start finds no room. */
  | { do: "forget"; model: ModelState }
  /** Nothing before then; null: before something happens. */
  | { do: "wait"; until: number | null };

/**
 * The next load that nobody waits for:
 *
 * 1. a pinned model that is not loaded, after a failure with a pause; idle models go for it, and once it has been
 *    missing for `maxWait` those whose turn may close;
 * 2. the next `preload` model, where it fits; where it does not, it is forgotten;
 * 3. a model whose engine died, after the same pause, where it fits and nobody waits for a model that is not loaded.
 */
export function nextWish(models: Models, rooms: Rooms, othersWait: boolean, now: number): WishStep {
  const missing = models.wished.filter(({ turn }) => turn === null);
  if (missing.length === 0) return { do: "wait", until: null };
  const times = new RoomTimes(rooms, true);
  let until = Number.POSITIVE_INFINITY;
  for (const model of missing) {
    if (!model.rules.pinned || model.neverFits !== null) continue;
    const candidate = { model, from: model.missingSince ?? now };
    const at = Math.max(retryAt(model, now), times.at(candidate));
    if (at <= now) return { do: "admit", candidate, cause: `${model.name} is to be loaded always` }; // (1)
    until = Math.min(until, at);
  }
  for (const model of missing) {
    if (!model.preload) continue;
    const candidate = { model, from: null };
    if (times.at(candidate) > now) return { do: "forget", model };
    return { do: "admit", candidate, cause: `${model.name} is to be loaded at start` }; // (2)
  }
  for (const model of othersWait ? [] : missing) {
    if (!model.bringBack) continue;
    const candidate = { model, from: null };
    if (times.at(candidate) > now) continue;
    const at = retryAt(model, now);
    if (at <= now) return { do: "admit", candidate, cause: `the engine of ${model.name} had died` }; // (3)
    until = Math.min(until, at);
  }
  return { do: "wait", until: Number.isFinite(until) ? until : null };
}

function retryAt({ retry, failures }: ModelState, now: number): number {
  const refusedFor = failures.refusedFor(now);
  return Math.max(retry.at, refusedFor > 0 ? now + refusedFor : now);
}
