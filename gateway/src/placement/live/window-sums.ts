/**
 * Sums over the last while, in slots of equal length: what is added costs the same however much came before. Times in
 * milliseconds of one clock that does not go back.
 */
export class WindowSums {
  readonly #fields: number;
  readonly #slotMs: number;
  readonly #slots: number;
  readonly #values: Float64Array;
  /** The newest slot, counted from time 0; slots older than it by `#slots` and more are empty. */
  #newest = 0;

  /** Of so many figures, over `slots` times `slotMs`. */
  constructor(fields: number, slotMs: number, slots: number) {
    this.#fields = fields;
    this.#slotMs = slotMs;
    this.#slots = slots;
    this.#values = new Float64Array(fields * slots);
  }

  /** The longest window that can be asked for. */
  get lengthMs(): number {
    return this.#slotMs * this.#slots;
  }

  add(field: number, value: number, now: number): void {
    this.#moveTo(now);
    const at = (this.#newest % this.#slots) * this.#fields + field;
    this.#values[at] = (this.#values[at] ?? 0) + value;
  }

  /** The sum of one figure over the last `ms`, the slot that is being filled included. */
  sum(field: number, ms: number, now: number): number {
    this.#moveTo(now);
    const slots = Math.min(this.#slots, Math.max(1, Math.round(ms / this.#slotMs)));
    let sum = 0;
    for (let back = 0; back < slots && back <= this.#newest; back += 1) {
      sum += this.#values[((this.#newest - back) % this.#slots) * this.#fields + field] ?? 0;
    }
    return sum;
  }

  /** Empties the slots that time has passed over. */
  #moveTo(now: number): void {
    const slot = Math.max(0, Math.floor(now / this.#slotMs));
    const steps = slot - this.#newest;
    if (steps <= 0) return;
    if (steps >= this.#slots) this.#values.fill(0);
    else {
      for (let next = this.#newest + 1; next <= slot; next += 1) {
        const from = (next % this.#slots) * this.#fields;
        this.#values.fill(0, from, from + this.#fields);
      }
    }
    this.#newest = slot;
  }
}
