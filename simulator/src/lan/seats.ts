import { answerTimes } from "./answer-times.ts";
import type { ModelSpeed } from "./farm.ts";
import type { AskedTokens } from "./worker-run.ts";

/** The slots of a model inside its engine: an agent may grant more than these, and then some wait there. */
export class Seats {
  readonly speed: ModelSpeed;
  readonly #seated = new Set<number>();
  readonly #waiting: number[] = [];

  constructor(speed: ModelSpeed) {
    this.speed = speed;
  }

  timesOf(tokens: AskedTokens): { firstMs: number; ms: number } {
    return answerTimes(this.speed, tokens);
  }

  /** Whether there is a slot for it now. */
  take(request: number): boolean {
    if (this.#seated.size >= this.speed.slots) {
      this.#waiting.push(request);
      return false;
    }
    this.#seated.add(request);
    return true;
  }

  /** `next`: who has its slot now. */
  leave(request: number): { wasSeated: boolean; next: number | null } {
    if (!this.#seated.delete(request)) {
      const at = this.#waiting.indexOf(request);
      if (at >= 0) this.#waiting.splice(at, 1);
      return { wasSeated: false, next: null };
    }
    const next = this.#waiting.shift() ?? null;
    if (next !== null) this.#seated.add(next);
    return { wasSeated: true, next };
  }
}
