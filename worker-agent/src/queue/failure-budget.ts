/** Milliseconds. A model that keeps failing is still tried once an hour. */
const LONGEST_PAUSE = 3_600_000;

export interface FailureRules {
  failureLimit: number;
  failureReset: number;
}

/**
 * Consecutive failed loads of one model (rule R6). An engine that is gone before its first answer counts as one.
 *
 * 1. each failure counts one; a success clears the count;
 * 2. below `failureLimit`, `failureReset` without a failure re-arms the count;
 * 3. at `failureLimit` the model is refused at once for `failureReset`, then one trial is let through;
 * 4. a trial that fails doubles the pause, up to an hour.
 */
export class FailureBudget {
  readonly #rules: FailureRules;
  #count = 0;
  #failedAt = 0;
  #pause = 0;

  constructor(rules: FailureRules) {
    this.#rules = rules;
  }

  /** Milliseconds until the model is tried again; 0 when it may be tried now. */
  refusedFor(now: number): number {
    if (!this.#spent) return 0;
    // The clock has gone back: the pause begins anew.
    this.#failedAt = Math.min(this.#failedAt, now);
    return Math.max(0, this.#failedAt + this.#pause - now); // (3)
  }

  /** Consecutive failures that still count. */
  count(now: number): number {
    return this.#rearmed(now) ? 0 : this.#count;
  }

  /** A load begins. Quiet is measured up to here, or a load longer than `failureReset` would never use up the budget. */
  attempt(now: number): void {
    if (this.#rearmed(now)) this.succeeded(); // (2)
  }

  failed(now: number): void {
    const { failureReset } = this.#rules;
    const trial = this.#spent;
    this.#count += 1; // (1)
    this.#failedAt = now;
    if (!this.#spent) return;
    this.#pause = trial ? Math.min(this.#pause * 2, Math.max(LONGEST_PAUSE, failureReset)) : failureReset; // (3), (4)
  }

  succeeded(): void {
    this.#count = 0;
    this.#pause = 0;
  }

  get #spent(): boolean {
    return this.#count > 0 && this.#count >= this.#rules.failureLimit;
  }

  #rearmed(now: number): boolean {
    return !this.#spent && this.#count > 0 && now >= this.#failedAt + this.#rules.failureReset;
  }
}
