import type { CancelTimer, Clock } from "@farmgate/shared";
import type { EngineError } from "../decide/engine-error.ts";
import { type Effect, EngineState, type ModelJob } from "../decide/engine-state.ts";
import type { EngineOptions } from "../decide/options.ts";
import type { SlotStart } from "../decide/slot-pool.ts";
import type { Journal } from "./journal.ts";

/** What a waiting request wants to be told. Exactly one of the two is called, once, unless it leaves first. */
export interface JobHandlers {
  started(start: SlotStart): void;
  refused(error: EngineError): void;
}

/** Carries out what the state decides: load timers, starts and refusals. */
export class Desk {
  readonly state: EngineState;
  readonly #clock: Clock;
  readonly #journal: Journal;
  readonly #loadMs: Map<string, number>;
  readonly #loadFails: (model: string) => boolean;
  readonly #loads = new Map<string, CancelTimer>();
  readonly #waiting = new Map<string, { model: string; handlers: JobHandlers }>();
  readonly #effects: Effect[] = [];
  #running = false;

  constructor(options: EngineOptions, clock: Clock, journal: Journal, loadFails: (model: string) => boolean) {
    this.state = new EngineState(options);
    this.#clock = clock;
    this.#journal = journal;
    this.#loadMs = new Map(options.models.map((model) => [model.name, model.load]));
    this.#loadFails = loadFails;
  }

  submit(job: ModelJob, handlers: JobHandlers, autoload?: boolean): void {
    this.#waiting.set(job.id, { model: job.model, handlers });
    this.#run(this.state.arrive(job, this.#clock.now(), autoload));
  }

  /** The answer has ended. `answer` is what the slot holds from now on beside the prompt. */
  served(job: ModelJob, answer: string): void {
    this.#journal.write("served", job.model, job.id);
    this.#run(this.state.leave(job.id, answer, this.#clock.now()));
  }

  /** The connection is gone, by the caller or by a failure form; the slot or the place in the queue is free at once. */
  gone(job: ModelJob, why: "left" | "reset"): void {
    this.#waiting.delete(job.id);
    const effects = this.state.leave(job.id, "", this.#clock.now());
    this.#journal.write(why, job.model, job.id);
    this.#run(effects);
  }

  load(model: string): EngineError | null {
    return this.#runUnlessError(this.state.load(model));
  }

  unload(model: string): EngineError | null {
    return this.#runUnlessError(this.state.unload(model));
  }

  close(): void {
    for (const cancel of this.#loads.values()) cancel();
    this.#loads.clear();
    this.#waiting.clear();
  }

  #runUnlessError(outcome: EngineError | Effect[]): EngineError | null {
    if (!Array.isArray(outcome)) return outcome;
    this.#run(outcome);
    return null;
  }

  /** An answer can end inside its own start, so that effects queue up rather than nest. */
  #run(effects: Effect[]): void {
    this.#effects.push(...effects);
    if (this.#running) return;
    this.#running = true;
    try {
      for (let effect = this.#effects.shift(); effect !== undefined; effect = this.#effects.shift()) this.#do(effect);
    } finally {
      this.#running = false;
    }
    this.#journal.changed();
  }

  #do(effect: Effect): void {
    switch (effect.kind) {
      case "load":
        this.#startLoad(effect.model);
        return;
      case "stop-load":
        this.#loads.get(effect.model)?.();
        this.#loads.delete(effect.model);
        return;
      case "unloaded":
        if (effect.why === "failed") this.#journal.write("load-failed", effect.model);
        else this.#journal.write(effect.why === "evicted" ? "evicted" : "unloaded", effect.model);
        return;
      case "start": {
        const job = this.#takeWaiting(effect.job);
        this.#journal.write("start", effect.model, effect.job);
        job?.handlers.started(effect);
        return;
      }
      case "refuse": {
        const job = this.#takeWaiting(effect.job);
        this.#journal.write("refused", job?.model ?? "", effect.job);
        job?.handlers.refused(effect.error);
        return;
      }
    }
  }

  #startLoad(model: string): void {
    this.#journal.write("load", model);
    const cancel = this.#clock.after(this.#loadMs.get(model) ?? 0, () => {
      this.#loads.delete(model);
      const ok = !this.#loadFails(model);
      const effects = this.state.loadEnded(model, ok, this.#clock.now());
      if (ok) this.#journal.write("loaded", model);
      this.#run(effects);
    });
    this.#loads.set(model, cancel);
  }

  #takeWaiting(job: string): { model: string; handlers: JobHandlers } | undefined {
    const waiting = this.#waiting.get(job);
    this.#waiting.delete(job);
    return waiting;
  }
}
