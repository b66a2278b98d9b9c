export interface IdleRules {
  /** Nothing goes down before it was idle for so long, in milliseconds. */
  holdMs: number;
  /** Nor before it was idle for so many times the time that it takes to come up again. */
  reloads: number;
}

/**
 * How long a model is kept where it is without a request, in milliseconds. Always longer than it takes to come up again,
 * or a model that is asked for now and then would spend its time loading.
 */
export function idleHold(reloadMs: number, { holdMs, reloads }: IdleRules): number {
  return Math.max(holdMs, reloadMs * Math.max(1, reloads) + 1);
}
