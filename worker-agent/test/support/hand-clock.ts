import type { Clock } from "@farmgate/shared";

/** A clock that stands until it is moved; its timers fire in order. */
export class HandClock implements Clock {
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
  move(ms: number): void {
    this.#now += ms;
    const due = this.#timers.filter((timer) => timer.at <= this.#now).sort((a, b) => a.at - b.at);
    this.#timers = this.#timers.filter((timer) => timer.at > this.#now);
    for (const timer of due) timer.fn();
  }
  get pending(): number[] {
    return this.#timers.map((timer) => timer.at);
  }
}
