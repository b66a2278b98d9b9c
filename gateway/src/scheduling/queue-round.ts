import { AHEAD_MS, type Instance } from "./instances.ts";
import { LstImh } from "./lst-imh.ts";
import { byDeadline, type Job, timeAt } from "./moore-hodgson.ts";
import { type Deadline, deadlineAt, type MissFigures, onMiss } from "./relaxed-deadline.ts";

/** A request that waits in the queue of its model. */
export interface Waiting {
  /** Of its prompt. */
  tokens: number;
  /** Else its first byte comes when all of its answer is written. */
  streamed: boolean;
  /** null: it has none. */
  deadline: Deadline | null;
  enteredAt: number;
}

export interface Round<W> {
  /** To be sent now, each to its worker. */
  sends: { waiting: W; worker: string }[];
  relaxed: { waiting: W; deadline: Deadline }[];
  refused: { waiting: W; figures: MissFigures }[];
  /** Without a deadline, and its patience is over: sent as if there were no queue. */
  overdue: W[];
}

/**
 * A request without a deadline is planned as if it had this one, in milliseconds from when it began to wait: so those
 * with a tighter one go before it, but not for ever.
 */
const PATIENCE_MS = 60_000;

/**
 * Who of a queue goes now:
 *
 * 1. One without a deadline that has waited for its patience does not wait any longer.
 * 2. One that no worker can begin to answer in time, by figures that are sure or because its time is over: its deadline is
 *    relaxed where it may be, else it is refused.
 * 3. Of the others LST-IMH chooses, for the slots that are free or about to be.
 *
 * `restMs`: what answers take after their first byte, as in `instancesOf`.
 */
export function decideRound<W extends Waiting>(
  queue: Iterable<W>,
  instances: readonly Instance[],
  restMs: number,
  now: number,
): Round<W> {
  const round: Round<W> = { sends: [], relaxed: [], refused: [], overdue: [] };
  const jobs: (Job & { waiting: W })[] = [];
  for (const waiting of queue) {
    const { deadline, tokens, enteredAt } = waiting;
    // 1
    if (deadline === null) {
      if (now - enteredAt >= PATIENCE_MS) round.overdue.push(waiting);
      else jobs.push({ processing: tokens, deadline: enteredAt + PATIENCE_MS + restMs, waiting });
      continue;
    }
    // 2
    const kept = stillPossible(waiting, deadline, instances, restMs, now, round);
    // The whole answer is the first byte where it is no stream; else the slot is held on for the rest.
    if (kept !== null) {
      jobs.push({ processing: tokens, deadline: deadlineAt(kept) + (waiting.streamed ? restMs : 0), waiting });
    }
  }
  // 3
  jobs.sort(byDeadline);
  const lst = new LstImh();
  lst.assign(jobs, instances, now + AHEAD_MS);
  for (const [at, { worker }] of instances.entries()) {
    const job = jobs[lst.begins[at] ?? -1];
    if (job !== undefined) round.sends.push({ waiting: job.waiting, worker });
  }
  return round;
}

/** Whether one of the slots is free now and makes it in time. */
export function canBeginNow(
  { deadline, streamed, tokens }: Pick<Waiting, "deadline" | "streamed" | "tokens">,
  instances: readonly Instance[],
  restMs: number,
  now: number,
): boolean {
  const endsBy = deadline === null ? Number.POSITIVE_INFINITY : deadlineAt(deadline) + (streamed ? restMs : 0);
  const job = { processing: tokens, deadline: endsBy };
  return instances.some((one) => one.availableAt <= now && one.availableAt + timeAt(one, job) <= endsBy);
}

/** When the first byte of its answer comes at best, and what an idle worker takes to it. */
export function firstByteAtBest(
  { tokens, streamed }: Pick<Waiting, "tokens" | "streamed">,
  instances: readonly Instance[],
  restMs: number,
): { at: number; idleMs: number } {
  let at = Number.POSITIVE_INFINITY;
  let idleMs = Number.POSITIVE_INFINITY;
  for (const instance of instances) {
    const ms = timeAt(instance, { processing: tokens, deadline: 0 }) - (streamed ? restMs : 0);
    idleMs = Math.min(idleMs, ms);
    at = Math.min(at, instance.availableAt + ms);
  }
  return { at, idleMs };
}

/** Its deadline, as it was or relaxed; null: it is refused. */
function stillPossible<W extends Waiting>(
  waiting: W,
  deadline: Deadline,
  instances: readonly Instance[],
  restMs: number,
  now: number,
  round: Round<W>,
): Deadline | null {
  const best = firstByteAtBest(waiting, instances, restMs);
  const isOver = now >= deadlineAt(deadline);
  const isKnown = instances.every(({ sure }) => sure);
  if (!isOver && (!isKnown || best.at <= deadlineAt(deadline))) return deadline;
  const missed = onMiss(deadline, Math.max(best.at, now), best.idleMs);
  if (missed.kind === "relaxed") {
    round.relaxed.push({ waiting, deadline: missed.deadline });
    return missed.deadline;
  }
  round.refused.push({ waiting, figures: missed.figures });
  return null;
}
