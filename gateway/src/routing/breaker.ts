/**
 * A circuit breaker for one pair of worker and model (Nygard, "Release It!", 2007): a model that hangs or fails is put
 * aside while its machine goes on with the others. Times in milliseconds of `now`.
 */
export interface Breaker {
  /** As the worker spells it. */
  model: string;
  /** In a row. */
  faults: number;
  /** One of them was an answer that stopped after its head, so that a head alone proves nothing. */
  stalls: boolean;
  /** Open: out of routing until then, and from then on one request at a time is a trial. null: closed. */
  openUntil: number | null;
  /** How long it was last open before its trial; 0: never. */
  pauseMs: number;
  /** What went wrong last. */
  reason: string;
}

/** A fault of the worker with a model: it answered with one, or not at all. */
export interface PairFault {
  model: string;
  /** When the request was sent. */
  sentAt: number;
  /** The head of an answer came, and then no more. */
  stalled: boolean;
  reason: string;
}

/** Faults in a row that open it. */
const TRIP = 3;
const FIRST_PAUSE_MS = 30_000;
const LONGEST_PAUSE_MS = 300_000;

/**
 * The breaker after a fault:
 *
 * 1. Open: 1a. of a request sent before a trial was due: nothing new. 1b. Of a trial: open for twice as long.
 * 2. Closed: 2a. it counts; 2b. the third in a row opens it.
 */
export function afterFault(last: Breaker | undefined, fault: PairFault, now: number): Breaker {
  const { model, reason } = fault;
  const { openUntil = null, pauseMs = 0 } = last ?? {};
  // 1a
  if (last !== undefined && openUntil !== null && fault.sentAt < openUntil) return last;
  const faults = (last?.faults ?? 0) + 1;
  const counted = { model, faults, stalls: fault.stalled || last?.stalls === true, openUntil: null, pauseMs, reason };
  // 2a
  if (openUntil === null && faults < TRIP) return counted;
  // 1b, 2b
  const pause = pauseMs === 0 ? FIRST_PAUSE_MS : Math.min(LONGEST_PAUSE_MS, 2 * pauseMs);
  return { ...counted, openUntil: now + pause, pauseMs: pause };
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
  return breaker.openUntil === null ? breaker : { ...breaker, openUntil: null, faults: TRIP - 1 };
}

/** Whether the pair may be asked now, with so many of its requests under way: closed, or open and due for its trial. */
export function mayAsk(breaker: Breaker, inflight: number, now: number): boolean {
  return breaker.openUntil === null || (now >= breaker.openUntil && inflight === 0);
}

/** For people: `3 requests in a row failed (no first byte in time)`. */
export function breakerWords({ faults, reason }: Breaker): string {
  return `${faults} requests in a row failed there (${reason})`;
}
