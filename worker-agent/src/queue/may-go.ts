import { busyWith, isIdle, type ModelState } from "./model-state.ts";
import type { Policy } from "./policy.ts";
import { hadBatch, keepUntil, mayCloseAt } from "./turn.ts";
import type { SchedulerRules } from "./types.ts";

/** From when a loaded model may go, in milliseconds; infinite: not by the mere passing of time. */
export interface MayGo {
  /** For whoever is to come. */
  readonly forAny: number;
  /** For one that has waited `maxWait`, and not before it has. Never later than `forAny`. */
  readonly forDue: number;
}

/** Who asks is either a model that somebody waits for, or one that is `wished`. */
export interface Leave {
  readonly policy: Policy;
  readonly rules: SchedulerRules;
  readonly wished: boolean;
}

/**
 * From when the resident may go:
 *
 * 1. with nothing left (R5): when it need not be kept any longer;
 * 2. for a model that is due against its turn (R2), by its wait or as the turn had its batch: when the turn may close
 *    (R3, R4).
 *
 * In strict arrival order what waits for the resident comes after whoever asks, and nobody is due.
 */
export function mayGo(resident: ModelState, { policy, rules, wished }: Leave): MayGo {
  const { turn } = resident;
  if (turn === null) return { forAny: Number.POSITIVE_INFINITY, forDue: Number.POSITIVE_INFINITY };
  const nothingLeft = policy.strict && !wished ? busyWith(resident) === 0 : isIdle(resident);
  const idleSince = turn.idleSince ?? resident.quietSince;
  const kept = nothingLeft ? keepUntil(turn, idleSince, rules) : Number.POSITIVE_INFINITY; // (1)
  const forDue = policy.due ? Math.min(kept, mayCloseAt(turn, rules)) : kept; // (2)
  return { forAny: hadBatch(turn, rules) ? forDue : kept, forDue };
}

/** From when a resident may go for a model whose wait reaches `maxWait` at `due`. */
export function goesAt({ forAny, forDue }: MayGo, due: number): number {
  return Math.min(forAny, Math.max(due, forDue));
}
