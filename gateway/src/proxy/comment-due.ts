/** What a caller has been sent so far. Times in milliseconds on one clock. */
export interface Silence {
  /** It takes a stream of events, and no byte of its answer has been passed on. */
  waitsForEvents: boolean;
  arrivedAt: number;
  /** When the head of an answer, or a comment, was sent last; null: nothing was. */
  lastSentAt: number | null;
}

/**
 * When a waiting caller is to be sent the next comment, so that neither it nor a proxy on the way gives up; null: never.
 * (1) No comments are wanted (`everyMs` is 0), or their time is over. (2) Else when it has heard nothing for `everyMs`:
 * a request that is answered or refused sooner gets its true status.
 */
export function commentDueAt({ waitsForEvents, arrivedAt, lastSentAt }: Silence, everyMs: number): number | null {
  if (everyMs === 0 || !waitsForEvents) return null; // (1)
  return (lastSentAt ?? arrivedAt) + everyMs; // (2)
}

/** The longest time between two looks at the requests that wait, in milliseconds. */
const MOST_MS = 1_000;

/** How long until the next look at the requests that wait, so that a comment is late by a tenth of its time at most. */
export function nextLookMs(everyMs: number): number {
  return Math.min(MOST_MS, everyMs / 10);
}
