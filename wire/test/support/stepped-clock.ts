import type { Clock } from "@farmgate/shared";

/** A clock that stands until it is moved; its timers fire in order. */
export class SteppedClock implements Clock {
  #now = 0;
  #timers: { at: number; fn: () => void }[] = [];
  now = () => this.#now;
  wall = () => 0;

  after(ms: number, fn: () => void) {
    const timer = { at: this.#now + ms, fn };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  get pending(): number {
    return this.#timers.length;
  }

  move(ms: number): void {
    for (const end = this.#now + ms; ; ) {
      const next = this.#timers.toSorted((a, b) => a.at - b.at).find(({ at }) => at <= end);
      this.#now = next?.at ?? end;
      if (next === undefined) return;
      this.#timers = this.#timers.filter((timer) => timer !== next);
      next.fn();
    }
  }
}
