/** What may pass at once before the rate counts, in milliseconds of it. */
const BURST_MS = 100;

/** Holds all that pass by it to a number of bytes a second together. Time is an argument. */
export class ByteRate {
  readonly #bytesPerMs: number;
  /** When all that was let by so far has had its time. */
  #until = Number.NEGATIVE_INFINITY;

  /** `bytesPerSecond` 0: no limit. */
  constructor(bytesPerSecond: number) {
    this.#bytesPerMs = bytesPerSecond / 1_000;
  }

  /** How many bytes to let by at once, at most `most`, so that those who share the rate all get on. */
  piece(most: number): number {
    if (this.#bytesPerMs === 0) return most;
    return Math.min(most, Math.max(1, Math.floor(this.#bytesPerMs * BURST_MS)));
  }

  /** Lets `bytes` by; how many milliseconds to wait after them. */
  passed(bytes: number, now: number): number {
    if (this.#bytesPerMs === 0) return 0;
    this.#until = Math.max(this.#until, now - BURST_MS) + bytes / this.#bytesPerMs;
    return Math.max(0, this.#until - now);
  }
}
