/** Milliseconds; the pause after the first failure. */
const FIRST = 1_000;

/**
 * When a load that nobody waits for is tried again: after a pause that doubles with each failure, from a second up to
 * `failureReset`. A model that has answered starts anew.
 */
export class RetryPause {
  readonly #longest: number;
  #pause = 0;
  /** On the scheduler's clock; before it no try. */
  at: number = Number.NEGATIVE_INFINITY;

  constructor(failureReset: number) {
    this.#longest = Math.max(FIRST, failureReset);
  }

  failed(now: number): void {
    this.#pause = this.#pause === 0 ? FIRST : Math.min(this.#pause * 2, this.#longest);
    this.at = now + this.#pause;
  }

  succeeded(): void {
    this.#pause = 0;
    this.at = Number.NEGATIVE_INFINITY;
  }
}
