import type { SchedulerEffect } from "./types.ts";

/** Remembers which tick the executor was last asked for, so that it is asked again only when that changes. */
export class Wake {
  #at: number | null = null;

  /** The tick has come: none is on its way. */
  came(): void {
    this.#at = null;
  }

  /** The effect that asks for a tick at the earliest of these times, or calls it off; null: all is as before. */
  ask(times: readonly (number | null)[]): SchedulerEffect | null {
    const wanted = times.filter((time) => time !== null);
    const at = wanted.length === 0 ? null : Math.min(...wanted);
    if (at === this.#at) return null;
    this.#at = at;
    return { type: "wake", at };
  }
}
