/** The rate is of the last minute: answers may take long, and few may end in less. */
const SLOTS = 30;
const SLOT_MS = 2_000;

/** How many requests end in a second, and how long they took, by what has ended lately. `now` is in milliseconds. */
export class DrainRate {
  readonly #counts = new Uint32Array(SLOTS);
  /** Milliseconds that those of each slot were under way, together. */
  readonly #lasted = new Float64Array(SLOTS);
  /** The number of the newest slot. */
  #newest = 0;
  #total = 0;
  /** Since when it counts; null: nothing has ended yet. */
  #since: number | null = null;

  /** A request has ended that a worker had been asked; it was under way for `ms`. */
  ended(now: number, ms: number): void {
    this.#since ??= now;
    this.#moveTo(now);
    const at = this.#newest % SLOTS;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    this.#lasted[at] = (this.#lasted[at] ?? 0) + ms;
    this.#total += 1;
  }

  /** null: nothing has ended lately. */
  perSecond(now: number): number | null {
    this.#moveTo(now);
    if (this.#since === null || this.#total === 0) return null;
    // Of the newest slot only a part has passed.
    const spanMs = Math.min(now - this.#since, now - (this.#newest - SLOTS + 1) * SLOT_MS);
    return (this.#total * 1_000) / Math.max(spanMs, SLOT_MS / 2);
  }

  /** How long one was under way, in the mean of them, in seconds; null: nothing has ended lately. */
  meanS(now: number): number | null {
    this.#moveTo(now);
    if (this.#total === 0) return null;
    return this.#lasted.reduce((sum, ms) => sum + ms, 0) / this.#total / 1_000;
  }

  #forget(slot: number, now: number): void {
    this.#counts.fill(0);
    this.#lasted.fill(0);
    this.#total = 0;
    this.#newest = slot;
    this.#since = now;
  }

  #moveTo(now: number): void {
    const slot = Math.floor(now / SLOT_MS);
    // The clock has gone back: what was counted is of a time to come.
    if (slot < this.#newest) this.#forget(slot, now);
    const passed = Math.min(slot - this.#newest, SLOTS);
    for (let i = 1; i <= passed; i += 1) {
      const at = (slot - passed + i) % SLOTS;
      this.#total -= this.#counts[at] ?? 0;
      this.#counts[at] = 0;
      this.#lasted[at] = 0;
    }
    if (slot > this.#newest) this.#newest = slot;
  }
}
