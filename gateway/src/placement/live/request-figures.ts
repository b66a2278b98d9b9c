import type { Served } from "../../proxy/accounts.ts";
import type { Call, TryUnderWay } from "../../proxy/call.ts";
import type { PlacementFigures } from "./observations.ts";

/** All that is known of a request before its answer's usage is read. */
export type UncountedFigures = Omit<PlacementFigures, "input" | "output">;

/** A request that has ended, as far as placement is concerned. */
export interface EndedCall
  extends Pick<Call, "worker" | "warmth" | "arrivedAt" | "askedAt" | "firstByteAt" | "deadlineAt"> {
  readonly sent: { readonly bytes: number } | null;
  readonly attempt: Pick<TryUnderWay, "firstDataAt" | "lastDataAt" | "firstByteFrom"> | null;
  readonly tap: { readonly streamed: boolean };
}

/** What placement learns of a request that has ended; `targetMs`: for its first byte, where it set no deadline. */
export function requestFigures(call: EndedCall, served: Served, targetMs: number): UncountedFigures {
  const { worker, attempt, sent, warmth, tap } = call;
  const first = attempt?.firstDataAt ?? null;
  const last = attempt?.lastDataAt ?? null;
  return {
    worker,
    bytes: sent?.bytes ?? null,
    inputMs:
      attempt === null || first === null || !tap.streamed || warmth !== "warm" ? null : first - attempt.firstByteFrom,
    outputMs: first === null || last === null || !tap.streamed ? null : last - first,
    onTime: isOnTime(call, served, targetMs),
  };
}

/**
 * Whether the first byte came within its time; null: nobody can tell.
 *
 * 1. No answer: late, unless it was the caller's own doing.
 * 2. A deadline of its own is that of the first byte, of a whole answer too.
 * 3. By the target: 3a. of a stream the first byte; 3b. of a whole answer when its turn came, since how long it takes from
 *    there lies with what was asked.
 */
function isOnTime(
  { firstByteAt, deadlineAt, arrivedAt, attempt, askedAt, tap }: EndedCall,
  served: Served,
  targetMs: number,
) {
  const { status, error } = served;
  // 1
  if (error !== null && firstByteAt === null) return error.status >= 500 || error.code === "deadline" ? false : null;
  if (firstByteAt === null || (status !== null && status >= 400 && status < 500)) return null;
  if (status !== null && status >= 500) return false;
  // 2
  if (deadlineAt !== null) return firstByteAt <= deadlineAt;
  // 3a
  const due = arrivedAt + targetMs;
  if (tap.streamed) return firstByteAt <= due;
  // 3b
  const turnAt = attempt?.firstByteFrom ?? askedAt;
  return turnAt === null ? null : turnAt <= due;
}
