/**
 * Gateways number their orders to agents by the wall time at which they came to give them. So far ahead of the reader's
 * own clock, in milliseconds, such a number is taken for a mistake.
 */
export const FENCE_AHEAD_MS = 86_400_000;
