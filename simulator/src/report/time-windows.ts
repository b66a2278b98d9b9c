/** A sum for each stretch of virtual time, from 0 on; grows as time goes on. */
export class TimeWindows {
  readonly #windowMs: number;
  #sums: Float64Array;
  #used = 0;

  /** Throws a RangeError where there is no end of windows. */
  constructor(windowMs: number, spanMs: number) {
    if (!(windowMs > 0 && Number.isFinite(spanMs / windowMs))) {
      throw new RangeError(`${spanMs} ms cannot be told in windows of ${windowMs} ms`);
    }
    this.#windowMs = windowMs;
    this.#sums = new Float64Array(Math.max(1, Math.ceil(spanMs / windowMs)));
  }

  /** Times in milliseconds of virtual time. */
  add(at: number, by: number): void {
    this.#addTo(Math.max(0, Math.floor(at / this.#windowMs)), by);
  }

  /** `level` held from `from` to `to`: adds its milliseconds to each window in between. */
  hold(from: number, to: number, level: number): void {
    for (let at = from; at < to; ) {
      const next = Math.floor(at / this.#windowMs) + 1;
      // Where a window is a fraction, its end may be told as where it began: what is there then is in the one after it.
      const window = next * this.#windowMs > at ? next - 1 : next;
      const end = Math.min(to, (window + 1) * this.#windowMs);
      this.#addTo(window, level * (end - at));
      at = end;
    }
  }

  /** How many windows anything was added to, those before the last one included. */
  get length(): number {
    return this.#used;
  }

  /** Of one window; 0 for those that nothing was added to. */
  sum(window: number): number {
    return this.#sums[window] ?? 0;
  }

  #addTo(window: number, by: number): void {
    if (window >= this.#sums.length) {
      const grown = new Float64Array(Math.max(window + 1, 2 * this.#sums.length));
      grown.set(this.#sums);
      this.#sums = grown;
    }
    this.#sums[window] = this.sum(window) + by;
    this.#used = Math.max(this.#used, window + 1);
  }
}
