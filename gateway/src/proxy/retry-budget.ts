/**
 * The budget after Finagle's `RetryBudget`: a share of the requests of the last ten seconds, and ten a second besides.
 * The latter can be spent at once, so that all requests of a worker that dies move on together: of three workers that
 * have 200 requests under way, 67 must.
 */
const WINDOW_S = 10;
const RESERVE_PER_S = 10;

interface Second {
  /** Whole seconds of `now`. */
  at: number;
  requests: number;
  retries: number;
}

/**
 * How many requests of the whole farm may be put to one more worker after a worker's fault, so that a farm where all is
 * sick is not asked several times for each request. `now` in milliseconds.
 */
export class RetryBudget {
  readonly #seconds: Second[] = [];

  /** A request has come. */
  arrived(now: number): void {
    this.#second(now).requests += 1;
  }

  /**
   * Takes one retry; false: none is left. Allowed are `share` of the requests that came of late, or of those that are at
   * workers now where they are more (answers may take minutes), and the reserve.
   */
  take(share: number, underWay: number, now: number): boolean {
    const second = this.#second(now);
    const recent = Math.max(underWay, this.#sum("requests"));
    if (this.#sum("retries") + 1 > share * recent + RESERVE_PER_S * WINDOW_S) return false;
    second.retries += 1;
    return true;
  }

  /** In how many seconds retries that were taken are counted no more, at least 1. */
  roomInS(now: number): number {
    this.#second(now);
    const oldest = this.#seconds.find(({ retries }) => retries > 0);
    return oldest === undefined ? 1 : Math.max(1, oldest.at + WINDOW_S - Math.floor(now / 1_000));
  }

  /** The one of `now`; those that are over are forgotten, and those to come where the clock has gone back. */
  #second(now: number): Second {
    const at = Math.floor(now / 1_000);
    while (this.#seconds[0] !== undefined && this.#seconds[0].at <= at - WINDOW_S) this.#seconds.shift();
    while ((this.#seconds.at(-1)?.at ?? at) > at) this.#seconds.pop();
    const last = this.#seconds.at(-1);
    if (last?.at === at) return last;
    const next = { at, requests: 0, retries: 0 };
    this.#seconds.push(next);
    return next;
  }

  #sum(what: "requests" | "retries"): number {
    return this.#seconds.reduce((sum, second) => sum + second[what], 0);
  }
}
