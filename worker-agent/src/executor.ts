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

export type SwapOrder = Omit<Extract<SchedulerEffect, { type: "swap" }>, "type">;
/** `lost`: the models that are gone although the load failed. */
export type SwapEnd = { ok: true } | { ok: false; reason: string; lost: readonly string[] };
/** `still`: the model is loaded as before. */
export type UnloadEnd = { ok: true } | { ok: false; reason: string; still: boolean };

/** Loads and unloads models, one order after the other. Neither should reject. */
export interface Switching {
  swap(order: SwapOrder, signal: AbortSignal): Promise<SwapEnd>;
  unload(model: string, reason: string, signal: AbortSignal): Promise<UnloadEnd>;
  /** A request met no engine: the model is not loaded, whatever was thought. */
  lost(model: string): void;
}

/**
 * Where a job stands, emptied when it ends: a Map leaves old tables behind as it changes, and the collector keeps what
 * stands in them until a full collection. That must not be the requests themselves, with their connections and bodies.
 */
interface Place {
  waiter: Waiter | null;
  running: boolean;
}

/**
 * Does what the scheduler decides and tells it what came of it: the one run loop of the agent. Events that arise
 * while effects are applied wait their turn, so that the scheduler sees one after the other.
 */
export class Executor {
  readonly #decider: Decider;
  readonly #clock: Clock;
  readonly #switching: Switching;
  readonly #waiters = new Map<string, Place>();
  readonly #events: SchedulerEvent[] = [];
  readonly #stop = new AbortController();
  #looping = false;
  #cancelWake: CancelTimer = () => {};
  /** The last operation under way: no two of them run at once. */
  #operation: Promise<unknown> = Promise.resolve();
  /** Those who wait for the end of the unload under way. */
  #unloads: ((end: UnloadEnd) => void)[] = [];
  #idle: (() => void)[] = [];

  constructor(decider: Decider, switching: Switching, clock: Clock) {
    this.#decider = decider;
    this.#switching = switching;
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
    this.#remove(id);
    this.tell({ type: "leave", id });
  }

  /** A granted job's answer has ended. Only the first call counts, so that a slot is freed exactly once. */
  finished(id: string): void {
    const entry = this.#waiters.get(id);
    if (entry === undefined || !entry.running) return;
    this.#remove(id);
    this.tell({ type: "done", id });
    this.#wakeIdle();
  }

  /**
   * A granted job met no engine: its model is lost, and the job waits again, with the wait that it already had.
   * The job must come with a new id, since the old one ends here.
   */
  again(id: string, job: Job, waiter: Waiter): void {
    this.#waiters.set(job.id, { waiter, running: false });
    this.#remove(id);
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
        if (next.type === "lost") this.#switching.lost(next.model);
        for (const effect of this.#decider.on(next, this.#clock.now())) this.#apply(effect);
      }
    } finally {
      this.#looping = false;
    }
  }

  /** An operator's order, which ends with what came of it; null: the scheduler does not follow it now. */
  unload(model: string): Promise<UnloadEnd> | null {
    if (this.view().unloading !== model) this.tell({ type: "unload", model });
    if (this.view().unloading !== model) return null;
    return new Promise((resolve) => this.#unloads.push(resolve));
  }

  /** Answers everything that waits with this error. */
  rejectWaiting(error: FarmError): void {
    for (const [id, entry] of this.#waiters) {
      if (entry.running) continue;
      const { waiter } = entry;
      this.leave(id);
      waiter?.rejected(error);
    }
  }

  /** Resolves when no answer is running. */
  async idle(): Promise<void> {
    while ([...this.#waiters.values()].some((entry) => entry.running)) {
      await new Promise<void>((resolve) => this.#idle.push(resolve));
    }
  }

  /** Ends what still runs: answers are told the error, the operation under way is ended. */
  async stop(error: FarmError): Promise<void> {
    this.#stop.abort();
    this.#cancelWake();
    for (const entry of this.#waiters.values()) if (entry.running) entry.waiter?.cut(error);
    await this.#operation;
  }

  #apply(effect: SchedulerEffect): void {
    switch (effect.type) {
      case "grant":
        return this.#grant(effect.id, effect.waitedMs);
      case "reject": {
        const waiter = this.#remove(effect.id);
        const { code, message, retryAfterS, retry } = effect;
        const details = { ...(retryAfterS === null ? {} : { retryAfterS }), ...(retry === undefined ? {} : { retry }) };
        waiter?.rejected(new FarmError(code, message, details));
        return;
      }
      case "swap":
        void this.#swap(effect);
        return;
      case "unload":
        void this.#unload(effect.model, effect.reason);
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
    entry.waiter?.granted(waitedMs);
  }

  /** Who waited there, if anybody did. */
  #remove(id: string): Waiter | null {
    const place = this.#waiters.get(id);
    if (place === undefined) return null;
    const { waiter } = place;
    this.#waiters.delete(id);
    place.waiter = null;
    return waiter;
  }

  async #swap({ model, ...order }: SwapOrder): Promise<void> {
    const end = await this.#runAlone((signal) => this.#switching.swap({ model, ...order }, signal)).catch(
      (error: unknown) => ({ ok: false as const, reason: String(error), lost: order.victims }),
    );
    if (end.ok) this.tell({ type: "swapped", model });
    else this.tell({ type: "swap_failed", model, reason: end.reason, lost: end.lost });
  }

  async #unload(model: string, reason: string): Promise<void> {
    const end = await this.#runAlone((signal) => this.#switching.unload(model, reason, signal)).catch(
      (error: unknown) => ({ ok: false as const, reason: String(error), still: false }),
    );
    const waiting = this.#unloads.splice(0);
    if (end.ok) this.tell({ type: "unloaded", model });
    else this.tell({ type: "unload_failed", model, still: end.still, reason: end.reason });
    for (const told of waiting) told(end);
  }

  /** Runs it when no other operation does. Rejects when it does, or when the agent stops first. */
  #runAlone<T>(operation: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const run = this.#operation.then(() => {
      if (this.#stop.signal.aborted) throw new FarmError("draining", "This agent is stopping.");
      return operation(this.#stop.signal);
    });
    this.#operation = run.catch(() => {});
    return run;
  }

  #wakeIdle(): void {
    for (const wake of this.#idle.splice(0)) wake();
  }
}
