/** Whose turn it is to be learned from: each model's once in a window, some in each tick, so that no tick takes long. */
export class LearningTurns {
  readonly #windowMs: number;
  #left: string[] = [];
  /** Of this window. */
  #count = 0;
  #nextAt: number;
  #takenAt: number;

  /** Times in milliseconds; the first window begins after one in which nothing is learned. */
  constructor(windowMs: number, now: number) {
    this.#windowMs = windowMs;
    this.#nextAt = now + windowMs;
    this.#takenAt = now;
  }

  /** Those of the time since it was last asked. */
  take(inUse: readonly string[], now: number): string[] {
    if (now >= this.#nextAt && this.#left.length === 0) {
      this.#left = [...inUse];
      this.#count = inUse.length;
      this.#nextAt = now + this.#windowMs;
    }
    const part = Math.min(1, (now - this.#takenAt) / this.#windowMs);
    this.#takenAt = now;
    return this.#left.splice(0, Math.ceil(this.#count * part));
  }
}
