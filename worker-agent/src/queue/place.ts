/**
 * A model's place in the line of models (rule R1): the arrival of its oldest waiting job, but not before the end of
 * its last turn. The place outlives a job that gives up, so that a caller who asks again has not lost it; it lapses
 * when nobody has waited for the model for `maxWait`. While somebody waits it stands, so that it never changes by
 * the mere passing of time.
 */
export class Place {
  readonly #maxWait: number;
  #gaveUp: number | null = null;
  #emptySince: number | null = null;
  #turnEnd = Number.NEGATIVE_INFINITY;

  constructor(maxWait: number) {
    this.#maxWait = maxWait;
  }

  /** A job came to wait. */
  arrived(now: number): void {
    if (this.#emptySince !== null && now > this.#emptySince + this.#maxWait) this.#gaveUp = null;
    this.#emptySince = null;
  }

  /** A job that arrived at `arrivedAt` left unserved. */
  gaveUp(arrivedAt: number): void {
    this.#gaveUp = Math.min(this.#gaveUp ?? arrivedAt, arrivedAt);
  }

  /** Nobody waits for the model any more. */
  emptied(now: number): void {
    this.#emptySince = now;
  }

  /** The model is ready: whoever waited is served now. */
  turnBegins(): void {
    this.#gaveUp = null;
    this.#emptySince = null;
  }

  /** The turn is over, or its load failed, which counts as one. */
  turnEnds(now: number): void {
    this.turnBegins();
    this.#turnEnd = now;
  }

  /** From when its wait counts towards `maxWait` (rule R2). */
  waitingFrom(oldestArrival: number): number {
    return this.#gaveUp === null ? oldestArrival : Math.min(this.#gaveUp, oldestArrival);
  }

  /** Rule R1: the smallest goes first. */
  since(oldestArrival: number): number {
    return Math.max(this.waitingFrom(oldestArrival), this.#turnEnd);
  }
}
