/** A key's allowance of so many requests in a minute, after one more was asked for. */
export interface Allowance {
  taken: boolean;
  /** What is remembered of the key: when its whole minute's worth is there again. */
  fullAt: number;
  /** Whole requests that may come at once now. */
  remaining: number;
  /** Until all of them are there again, in milliseconds. */
  resetMs: number;
  /** Until the next one is, in milliseconds; 0: now. */
  retryMs: number;
}

const MINUTE_MS = 60_000;

/**
 * The generic cell rate algorithm in its virtual-scheduling form (ITU-T I.371, annex A): one number says how much is
 * spent. At rest `perMinute` requests may come at once; what is spent comes back evenly, all of it in a minute. So the
 * number means the same at another rate, to which a key may be set meanwhile. `fullAt` and `now` in milliseconds.
 */
export function takeRequest(fullAt: number | undefined, now: number, perMinute: number): Allowance {
  const state = allowance(fullAt, now, perMinute);
  if (state.remaining < 1) return state;
  const after = allowance(state.fullAt + MINUTE_MS / perMinute, now, perMinute);
  return { ...after, taken: true, retryMs: 0 };
}

/** The same without asking for one. */
export function allowance(fullAt: number | undefined, now: number, perMinute: number): Allowance {
  const each = MINUTE_MS / perMinute;
  // Never more than a minute's worth is spent, however the clock has jumped.
  const from = Math.min(Math.max(fullAt ?? now, now), now + MINUTE_MS);
  const resetMs = from - now;
  // What is left of the time may miss a whole request by the last bit of a fraction.
  const remaining = Math.max(0, Math.floor((MINUTE_MS - resetMs) / each + 1e-6));
  return { taken: false, fullAt: from, remaining, resetMs, retryMs: Math.max(0, resetMs + each - MINUTE_MS) };
}
