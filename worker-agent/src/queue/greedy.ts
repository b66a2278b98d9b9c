import type { Line, Policy, WaitingModel } from "./policy.ts";

/**
 * The greedy choice, after Jano: a burst for one model costs one swap, however its requests are mixed with others'.
 *
 * 1. Somebody waits for the loaded model: serve that first.
 * 2. Else the model that has waited longest; at a tie the one whose oldest job came first.
 * 3. Nobody waits: nothing.
 *
 * Alone it would let a steady stream starve everybody else. That it does not is the work of turn.ts, not of this file.
 */
function next(line: Line): string | null {
  const { loaded, waiting } = line;
  if (loaded !== null && waiting.some((model) => model.name === loaded)) return loaded; // (1)
  return longestWaiting(waiting)?.name ?? null; // (2), (3)
}

/** The model with the smallest `since`; the first of equals. */
export function longestWaiting(waiting: readonly WaitingModel[]): WaitingModel | null {
  let longest: WaitingModel | null = null;
  for (const model of waiting) if (longest === null || model.since < longest.since) longest = model;
  return longest;
}

export const greedy: Policy = { next, strict: false };
