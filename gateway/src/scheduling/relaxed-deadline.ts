import { FarmError, formatDuration } from "@farmgate/shared";

/** How many times as long a relaxed deadline is, */
const RELAX_BY = 3;
/** and how often one is relaxed at most. */
const RELAX_TIMES = 2;

/** A deadline for the first byte. An immutable value; times in milliseconds. */
export interface Deadline {
  readonly arrivedAt: number;
  /** What was asked for, from the arrival. */
  readonly askedMs: number;
  /** Whether it may be relaxed: by the caller's key, or the request itself. */
  readonly mayRelax: boolean;
  /** How often it was. */
  readonly relaxed: number;
}

/** When it is over. */
export function deadlineAt({ arrivedAt, askedMs, relaxed }: Deadline): number {
  return arrivedAt + askedMs * RELAX_BY ** relaxed;
}

/** What becomes of a request that nobody can answer in time. */
export type Missed =
  /** It waits on, with a deadline that can be met. */
  { kind: "relaxed"; deadline: Deadline } | { kind: "refused"; figures: MissFigures };

/** From the arrival, in milliseconds. */
export interface MissFigures {
  askedMs: number;
  /** The first byte, by the best that can be done now. */
  predictedMs: number;
  /** By how much that is late. */
  lateMs: number;
  /** Milliseconds from now after which the same request would be on time; null: it never would. */
  againInMs: number | null;
}

/**
 * 1. Relaxed as often as it takes until it can be met, if it may be at all.
 * 2. Where that is not often enough, it is not relaxed for nothing: it is refused at once.
 *
 * `earliestFirstByte` as the farm stands now; `fastestMs` what an idle instance takes for it, from its beginning.
 */
export function onMiss(deadline: Deadline, earliestFirstByte: number, fastestMs: number): Missed {
  // 1
  if (deadline.mayRelax) {
    for (let relaxed = deadline.relaxed + 1; relaxed <= RELAX_TIMES; relaxed++) {
      const longer = { ...deadline, relaxed };
      if (deadlineAt(longer) >= earliestFirstByte) return { kind: "relaxed", deadline: longer };
    }
  }
  // 2
  const { arrivedAt, askedMs } = deadline;
  const lateMs = earliestFirstByte - deadlineAt(deadline);
  // When it comes again so much later, its deadline is as much later too.
  const againInMs = fastestMs <= askedMs && Number.isFinite(lateMs) ? Math.max(0, lateMs) : null;
  return { kind: "refused", figures: { askedMs, predictedMs: earliestFirstByte - arrivedAt, lateMs, againInMs } };
}

/** What the caller is told. */
export function missError({ askedMs, predictedMs, lateMs, againInMs }: MissFigures): FarmError {
  const told = Number.isFinite(predictedMs)
    ? `the first byte is predicted after ${inSeconds(predictedMs)}, ${inSeconds(askedMs)} were asked for, so that it would be ${inSeconds(lateMs)} late`
    : `nothing can serve it now, and ${inSeconds(askedMs)} were asked for`;
  const hint = againInMs === null ? "; give it a longer deadline, or a shorter prompt" : "";
  const retry =
    againInMs === null ? { retry: false } : { retry: true, retryAfterS: Math.max(1, Math.ceil(againInMs / 1_000)) };
  return new FarmError("deadline", `No worker can begin an answer in time: ${told}${hint}.`, retry);
}

function inSeconds(ms: number): string {
  return formatDuration(Math.max(1, Math.round(ms)));
}
