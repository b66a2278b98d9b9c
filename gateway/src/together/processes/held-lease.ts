import type { Lease } from "../hub.ts";

/** A lease as its member sees it. */
export class HeldLease implements Lease {
  readonly #giveUp: () => void;
  readonly #listeners = new Set<() => void>();
  #fence: number | null = null;
  #released = false;

  constructor(giveUp: () => void) {
    this.#giveUp = giveUp;
  }

  get fence(): number | null {
    return this.#fence;
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** The primary takes it from nobody who lives: what it told last holds. */
  confirm(): Promise<boolean> {
    return Promise.resolve(this.#fence !== null);
  }

  release(): Promise<void> {
    if (!this.#released) {
      this.#released = true;
      this.#fence = null;
      this.#giveUp();
    }
    return Promise.resolve();
  }

  /** null: it is not held. */
  set(fence: number | null): void {
    if (this.#released || fence === this.#fence) return;
    this.#fence = fence;
    for (const listener of this.#listeners) listener();
  }
}
