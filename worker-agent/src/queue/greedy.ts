import type { Line, Policy } from "./policy.ts";

/**
 * The greedy choice, after Jano: a burst for one model costs one swap, however its requests are mixed with others'.
 *
 * 1. Somebody waits for a loaded model that has a free slot: serve that first, of several the one with the smallest
 *    `since`.
 * 2. Else load the model that has waited longest; at a tie the one whose oldest job came first.
 * 3. Nobody can be helped now: nothing.
 *
 * Alone it would let a steady stream starve everybody else. That it does not is the work of turn.ts, not of this file.
 */
function next({ waiting }: Line): string | null {
  const ready = longestWaiting(waiting, ({ state }) => state === "ready");
  return (ready ?? longestWaiting(waiting, ({ state }) => state === "cold"))?.name ?? null;
}

/** Of those that match the one with the smallest `since`; the first of equals. */
export function longestWaiting<T extends { since: number }>(
  waiting: readonly T[],
  matches: (model: T) => boolean,
): T | null {
  let longest: T | null = null;
  for (const model of waiting) {
    if ((longest === null || model.since < longest.since) && matches(model)) longest = model;
  }
  return longest;
}

export const greedy: Policy = { next, due: true, strict: false };
