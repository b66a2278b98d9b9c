import type { Clock } from "@farmgate/shared";

/** Waits for something that comes about as one thing after the other closes. */
export class UntilClosed {
  readonly #looks = new Set<() => void>();

  /** One more has closed. */
  look(): void {
    for (const look of this.#looks) look();
  }

  /** Resolves once it holds, or after `ms` milliseconds. */
  async until(holds: () => boolean, ms: number, clock: Clock): Promise<void> {
    if (ms <= 0 || holds()) return;
    let look = () => {};
    await new Promise<void>((resolve) => {
      const stopTimer = clock.after(ms, resolve);
      look = () => {
        if (!holds()) return;
        stopTimer();
        resolve();
      };
      this.#looks.add(look);
    });
    this.#looks.delete(look);
  }
}
