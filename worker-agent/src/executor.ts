import { type CancelTimer, type Clock, FarmError } from "@farmgate/shared";
import type { Job, SchedulerEffect, SchedulerEvent, SchedulerView } from "./queue/types.ts";

/** The decider that the executor serves. */
export interface Decider {
  on(event: SchedulerEvent, now: number): SchedulerEffect[];
  view(now: number): SchedulerView;
}

/** Whoever waits for a job. Exactly one of `granted` and `rejected` is called, unless it leaves before. */
export interface Waiter {
  /** The model is ready and a slot is free: send it now. Must end with exactly one `executor.finished`. */
  granted(waitedMs: number): void;
  rejected(error: FarmError): void;
  /** The agent stops: end the answer that is running, now. It still ends with `finished`. */
  cut(error: FarmError): void;
}

/** Brings a model up; must not reject. */
export type RunSwap = (
  model: string,
  previous: string | null,
  why: string,
  signal: AbortSignal,
) => Promise<{ ok: true } | { ok: false; reason: string }>;

/**
 * Does what the scheduler decides and tells it what came of it: the one run loop of the agent. Events that arise
 * while effects are applied wait their turn, so that the scheduler sees one after the other.
 */
export class Executor {
  readonly #decider: Decider;
  readonly #clock: Clock;
  readonly #runSwap: RunSwap;
  readonly #waiters = new Map<string, { waiter: Waiter; running: boolean }>();
  readonly #events: SchedulerEvent[] = [];
  readonly #stop = new AbortController();
  #looping = false;
  #cancelWake: CancelTimer = () => {};
  /** The last script under way: no two of them run at once. */
  #script: Promise<void> = Promise.resolve();
  #idle: (() => void)[] = [];

  constructor(decider: Decider, runSwap: RunSwap, clock: Clock) {
    this.#decider = decider;
    this.#runSwap = runSwap;
    this.#clock = clock;
  }

  view(): SchedulerView {
    return this.#decider.view(this.#clock.now());
  }

  submit(job: Job, waiter: Waiter): void {
    this.#waiters.set(job.id, { waiter, running: false });
    this.tell({ type: "arrive", job });
  }

  /** The caller of a job that has not been granted is gone. */
  leave(id: string): void {
    const entry = this.#waiters.get(id);
    if (entry === undefined || entry.running) return;
    this.#waiters.delete(id);
    this.tell({ type: "leave", id });
  }

  /** A granted job's answer has ended. Only the first call counts, so that a slot is freed exactly once. */
  finished(id: string): void {
    const entry = this.#waiters.get(id);
    if (entry === undefined || !entry.running) return;
    this.#waiters.delete(id);
    this.tell({ type: "done", id });
    this.#wakeIdle();
  }

  /**
   * A granted job met no engine: its model is lost, and the job waits again, with the wait that it already had.
   * The job must come with a new id, since the old one ends here.
   */
  again(id: string, job: Job, waiter: Waiter): void {
    this.#waiters.set(job.id, { waiter, running: false });
    this.#waiters.delete(id);
    // The job is back in the queue before its slot is free, so that the next choice knows of it.
    this.#events.push({ type: "lost", model: job.model }, { type: "arrive", job });
    this.tell({ type: "done", id });
    this.#wakeIdle();
  }

  tell(event: SchedulerEvent): void {
    this.#events.push(event);
    if (this.#looping) return;
    this.#looping = true;
    try {
      for (let next = this.#events.shift(); next !== undefined; next = this.#events.shift()) {
        for (const effect of this.#decider.on(next, this.#clock.now())) this.#apply(effect);
      }
    } finally {
      this.#looping = false;
    }
  }

  /** Runs `script` when no swap runs; swaps wait for it. Rejects when the script does, or with `draining`. */
  runAlone(script: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const run = this.#script.then(() => {
      if (this.#stop.signal.aborted) throw new FarmError("draining", "This agent is stopping.");
      return script(this.#stop.signal);
    });
    this.#script = run.catch(() => {});
    return run;
  }

  /** Answers everything that waits with this error. */
  rejectWaiting(error: FarmError): void {
    for (const [id, entry] of this.#waiters) {
      if (entry.running) continue;
      this.leave(id);
      entry.waiter.rejected(error);
    }
  }

  /** Resolves when no answer is running. */
  async idle(): Promise<void> {
    while ([...this.#waiters.values()].some((entry) => entry.running)) {
      await new Promise<void>((resolve) => this.#idle.push(resolve));
    }
  }

  /** Ends what still runs: answers are told the error, the swap script is ended with its group. */
  async stop(error: FarmError): Promise<void> {
    this.#stop.abort();
    this.#cancelWake();
    for (const entry of this.#waiters.values()) if (entry.running) entry.waiter.cut(error);
    await this.#script;
  }

  #apply(effect: SchedulerEffect): void {
    switch (effect.type) {
      case "grant":
        return this.#grant(effect.id, effect.waitedMs);
      case "reject": {
        const entry = this.#waiters.get(effect.id);
        this.#waiters.delete(effect.id);
        const details = effect.retryAfterS === null ? {} : { retryAfterS: effect.retryAfterS };
        entry?.waiter.rejected(new FarmError(effect.code, effect.message, details));
        return;
      }
      case "swap":
        void this.#swap(effect.model, effect.previous, effect.reason);
        return;
      case "wake":
        this.#cancelWake();
        this.#cancelWake = () => {};
        if (effect.at === null) return;
        this.#cancelWake = this.#clock.after(Math.max(0, effect.at - this.#clock.now()), () =>
          this.tell({ type: "tick" }),
        );
        return;
    }
  }

  #grant(id: string, waitedMs: number): void {
    const entry = this.#waiters.get(id);
    if (entry === undefined) {
      this.#events.push({ type: "done", id });
      return;
    }
    entry.running = true;
    entry.waiter.granted(waitedMs);
  }

  async #swap(model: string, previous: string | null, why: string): Promise<void> {
    let result = { ok: true } as Awaited<ReturnType<RunSwap>>;
    await this.runAlone(async (signal) => {
      result = await this.#runSwap(model, previous, why, signal);
    }).catch((error: unknown) => {
      result = { ok: false, reason: String(error) };
    });
    this.tell(result.ok ? { type: "swapped", model } : { type: "swap_failed", model, reason: result.reason });
  }

  #wakeIdle(): void {
    for (const wake of this.#idle.splice(0)) wake();
  }
}
