/** Rates are measured, and move: a worker that takes no longer than so many times what another one takes is as fast. */
export const AS_FAST = 1.25;
