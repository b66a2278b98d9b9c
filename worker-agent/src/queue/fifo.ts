import type { Line, Policy } from "./policy.ts";

/**
 * Plain arrival order (`queue.policy: fifo`): what the greedy choice is measured against. The oldest waiting job goes
 * next, loaded model or not; neighbours for one model share its slots. Behind a job that cannot go yet nobody goes.
 */
function next(line: Line): string | null {
  return line.waiting[0]?.name ?? null;
}

export const fifo: Policy = { next, due: false, strict: true };
