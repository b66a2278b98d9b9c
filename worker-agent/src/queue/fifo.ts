import type { Line, Policy } from "./policy.ts";

/**
 * Plain arrival order, one answer at a time: what the greedy choice is compared with. Not offered in the
 * configuration.
 *
 * 1. An answer is running: wait for its end.
 * 2. Else the model of the oldest waiting job, loaded or not.
 */
function next(line: Line): string | null {
  if (line.running > 0) return null; // (1)
  return line.waiting[0]?.name ?? null; // (2)
}

export const fifo: Policy = { next, strict: true };
