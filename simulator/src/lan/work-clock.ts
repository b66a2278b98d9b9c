import type { WorkerFigures } from "./worker-run.ts";

/** Adds up what a worker does. */
export class WorkClock {
  readonly loadsOf = new Map<string, number>();
  #running = 0;
  #since = 0;
  #busyMs = 0;
  #answeringMs = 0;
  #loadingMs = 0;
  #loads = 0;
  #served = 0;

  answerBegins(now: number): void {
    this.#turn(now, 1);
  }

  answerEnds(now: number, isWhole: boolean): void {
    this.#turn(now, -1);
    if (isWhole) this.#served += 1;
  }

  loads(model: string, ms: number): void {
    this.#loads += 1;
    this.#loadingMs += ms;
    this.loadsOf.set(model, (this.loadsOf.get(model) ?? 0) + 1);
  }

  figures(name: string, until: number): WorkerFigures {
    this.#turn(until, 0);
    return {
      name,
      loads: this.#loads,
      loadingMs: this.#loadingMs,
      busyMs: this.#busyMs,
      answeringMs: this.#answeringMs,
      served: this.#served,
    };
  }

  #turn(now: number, change: number): void {
    const ms = now - this.#since;
    if (this.#running > 0) this.#busyMs += ms;
    this.#answeringMs += this.#running * ms;
    this.#since = now;
    this.#running += change;
  }
}
