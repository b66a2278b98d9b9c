/** As much tells how fast a peer is that was not measured yet, where another one has the file too. */
const TRIAL_BYTES = 64 * 1_024 ** 2;
const TRIAL_MS = 10_000;

/** How many bytes of the file were here at a moment, in milliseconds. */
interface Point {
  at: number;
  fetched: number;
}

/** How one fetch of a file goes on. Time is an argument. */
export class Arrival {
  #asked: Point | null = null;
  #began: Point | null = null;
  #last: Point | null = null;

  /** The first piece came at that time, and so much was here before it; null: none came yet. */
  get began(): Point | null {
    return this.#began;
  }

  /** So many bytes of the file are here: told once before the peer is asked, and after each piece. */
  reached(fetched: number, now: number): void {
    const point = { at: now, fetched };
    this.#asked ??= point;
    if (this.#last !== null && fetched > this.#last.fetched) this.#began ??= { at: now, fetched: this.#last.fetched };
    this.#last = point;
  }

  /** Enough came to know the peer's speed by. */
  isEnough(now: number): boolean {
    if (this.#began === null || this.#last === null) return false;
    return this.#last.fetched - this.#began.fetched >= TRIAL_BYTES || now - this.#began.at >= TRIAL_MS;
  }

  /**
   * What came of it, as `PeerRates` takes it; null: the peer was not asked.
   *
   * 1. the wait for the connection and the first piece does not count: it tells nothing of the speed of what follows;
   * 2. unless nothing came: then that wait is all there is;
   * 3. after a whole file, what this side still did with it does not count; else the silence at the end does.
   */
  came(isAll: boolean, now: number): { bytes: number; ms: number; isAll: boolean } | null {
    const [asked, began, last] = [this.#asked, this.#began, this.#last];
    if (asked === null || last === null) return null;
    if (began === null) return { bytes: 0, ms: now - asked.at, isAll }; // (2)
    const end = isAll ? last.at : now; // (3)
    return { bytes: last.fetched - began.fetched, ms: end - began.at, isAll }; // (1)
  }
}
