import { formatDuration } from "@farmgate/shared";
import type { Often } from "./fault-rate.ts";

/**
 * A circuit breaker for one pair of worker and model (Nygard, "Release It!", 2007): a model that hangs or fails is put
 * aside while its machine goes on with the others. Times in milliseconds of `now`.
 */
export interface Breaker {
  /** As the worker spells it. */
  model: string;
  /** In a row. */
  faults: number;
  /** When the last of them was noted. */
  faultAt: number;
  /** One of them was an answer that stopped after its head, so that a head alone proves nothing. */
  stalls: boolean;
  /** Open: out of routing until then, and from then on one request at a time is a trial. null: closed. */
  openUntil: number | null;
  /** When the trial under way was sent; null: none is. */
  trialAt: number | null;
  /** How long it was last open before its trial; 0: never. */
  pauseMs: number;
  /** What went wrong last. */
  reason: string;
  /** Why it is open, for people, as `breakerWords` tells it. */
  told: string;
}

/** A fault of the worker with a model: it answered with one, or not at all. */
export interface PairFault {
  model: string;
  /** When the request was sent. */
  sentAt: number;
  /** The head of an answer came, and then no more. */
  stalled: boolean;
  /** The connection broke: one crash breaks all that are open. */
  broke: boolean;
  reason: string;
}

/** Nothing came for a request for longer than the pair takes, and nothing of any other answer of the pair either. */
export interface PairSilence {
  model: string;
  /** When that request was sent, or last told to wait for its turn. */
  sentAt: number;
  /** The head of its answer has come. */
  stalled: boolean;
  /** `no first byte for 14 s, where 11 s are enough`. */
  reason: string;
}

/** Faults in a row that open it. */
const TRIP = 3;
const FIRST_PAUSE_MS = 30_000;
const LONGEST_PAUSE_MS = 300_000;

/**
 * The breaker after a fault; `often`: too many of the last answers failed.
 *
 * 1. Open: 1a. of a request sent before a trial was due: nothing new. 1b. Of a trial: open for twice as long.
 * 2. Closed: 2a. A connection that was open when the last fault was noted has broken: it may be the very same crash, and
 *    counts once. 2b. It counts; 2c. the third in a row opens it, and so does one where `often` is told.
 */
export function afterFault(last: Breaker | undefined, fault: PairFault, now: number, often: Often | null): Breaker {
  const { model, reason } = fault;
  const { openUntil = null, pauseMs = 0 } = last ?? {};
  // 1a
  if (last !== undefined && openUntil !== null && fault.sentAt < openUntil) return last;
  // 2a
  if (last !== undefined && openUntil === null && isSameCrash(last, fault)) return last;
  const faults = (last?.faults ?? 0) + 1;
  const stalls = fault.stalled || last?.stalls === true;
  const told = faultWords(faults, often, reason);
  const counted = { model, faults, faultAt: now, stalls, openUntil: null, trialAt: null, pauseMs, reason, told };
  // 2b
  if (openUntil === null && faults < TRIP && often === null) return counted;
  // 1b, 2c
  return open(counted, now);
}

/** Whether the fault may be the one that was noted last, seen by another request. */
export function isSameCrash(last: Breaker, { broke, sentAt }: PairFault): boolean {
  return broke && sentAt < last.faultAt;
}

/**
 * The breaker after a silence. What is under way goes on, and its answer closes the breaker.
 *
 * 1. Open: 1a. of a request sent before a trial was due: nothing new. 1b. Of a trial: open for twice as long.
 * 2. Closed: it opens at once, since requests that wait so long are not to become three.
 */
export function afterSilence(last: Breaker | undefined, silence: PairSilence, now: number): Breaker {
  const { model, reason } = silence;
  const { openUntil = null, pauseMs = 0, faults = 0, stalls = false } = last ?? {};
  // 1a
  if (last !== undefined && openUntil !== null && silence.sentAt < openUntil) return last;
  // 1b, 2
  const seen = {
    model,
    faults,
    faultAt: now,
    stalls: stalls || silence.stalled,
    openUntil: null,
    trialAt: null,
    pauseMs,
  };
  return open({ ...seen, reason, told: reason }, now);
}

/**
 * The breaker after a good answer (2xx); null: nothing is held against the pair any more.
 *
 * 1. A whole answer, or the head of one where no answer had stopped: all is forgotten.
 * 2. The head of one where some had stopped: 2a. it closes, but the next fault opens it again. 2b. Closed already: the
 *    faults stand until an answer is whole.
 */
export function afterAnswer(breaker: Breaker, whole: boolean): Breaker | null {
  // 1
  if (whole || !breaker.stalls) return null;
  // 2a, 2b
  return breaker.openUntil === null ? breaker : { ...breaker, openUntil: null, trialAt: null, faults: TRIP - 1 };
}

/** Whether the pair may be asked like any other now: closed, or open, due for its trial, and none is under way. */
export function mayAsk(breaker: Breaker, now: number): boolean {
  return breaker.openUntil === null || isTrialDue(breaker, now);
}

/** Whether the next request there is the trial. */
export function isTrialDue({ openUntil, trialAt }: Breaker, now: number): boolean {
  return openUntil !== null && now >= openUntil && trialAt === null;
}

/** For people: `3 requests in a row failed there (no first byte in time)`. */
export function breakerWords({ told }: Breaker): string {
  return told;
}

/** For people: `next trial in 12 s`. */
export function trialWords({ openUntil, trialAt }: Breaker, now: number): string {
  if (trialAt !== null) return "its trial is under way";
  const left = Math.ceil(((openUntil ?? now) - now) / 1_000);
  return left <= 0 ? "its trial is due" : `next trial in ${formatDuration(1_000 * left)}`;
}

function open(breaker: Breaker, now: number): Breaker {
  const { pauseMs } = breaker;
  const pause = pauseMs === 0 ? FIRST_PAUSE_MS : Math.min(LONGEST_PAUSE_MS, 2 * pauseMs);
  return { ...breaker, openUntil: now + pause, pauseMs: pause };
}

function faultWords(faults: number, often: Often | null, reason: string): string {
  if (faults >= TRIP) return `${faults} requests in a row failed there (${reason})`;
  if (often !== null) return `${often.failed} of the last ${often.of} requests failed there (${reason})`;
  return `it failed again there (${reason})`;
}
