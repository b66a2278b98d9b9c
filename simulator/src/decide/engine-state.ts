import { type EngineError, engineError } from "./engine-error.ts";
import type { EngineModel, EngineOptions } from "./options.ts";
import { type SlotJob, SlotPool, type SlotStart } from "./slot-pool.ts";

export type Phase = "unloaded" | "loading" | "loaded" | "stopping";

export interface ModelJob extends SlotJob {
  /** The model's own name. */
  model: string;
}

/** What the doer is to do. */
export type Effect =
  /** Start the load; report its end with `loadEnded`. */
  | { kind: "load"; model: string }
  /** Forget a load under way. */
  | { kind: "stop-load"; model: string }
  | { kind: "unloaded"; model: string; why: "evicted" | "asked" | "failed" }
  | ({ kind: "start"; model: string } & SlotStart)
  | { kind: "refuse"; job: string; error: EngineError };

interface ModelState {
  spec: EngineModel;
  phase: Phase;
  /** The last load failed. */
  failed: boolean;
  lastUsed: number;
  pool: SlotPool;
  /** Jobs that wait for the model to be loaded. */
  waiting: ModelJob[];
  /** Why it is stopping. */
  why: "evicted" | "asked";
}

/**
 * The models of a router and who is served by them. Events in, effects out; every effect is to be carried out in order.
 *
 * A request for a model that is not loaded (autoload):
 * (1) joins the load that is under way or wanted; else
 * (2) the load starts when fewer than `maxLoaded` models are in memory; else
 * (3) the least recently used idle model leaves; else
 * (4) the least recently used busy one stops: it ends what it serves, takes nothing new, and whoever waited for a slot
 *     of it waits for its next load.
 */
export class EngineState {
  readonly #models: Map<string, ModelState>;
  readonly #options: EngineOptions;
  readonly #modelOfJob = new Map<string, string>();
  /** Models to load as soon as there is room, in order. */
  #wanted: string[] = [];

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#models = new Map(
      options.models.map((spec) => [
        spec.name,
        {
          spec,
          phase: spec.loaded && !options.single ? ("loaded" as const) : ("unloaded" as const),
          failed: false,
          lastUsed: 0,
          pool: new SlotPool(options.slots),
          waiting: [],
          why: "asked" as const,
        },
      ]),
    );
  }

  phase(model: string): { phase: Phase; failed: boolean } {
    const { phase, failed } = this.#get(model);
    return { phase, failed };
  }

  /** Names of the models that serve or could serve now. */
  loaded(): string[] {
    return [...this.#models.values()].filter((m) => m.phase === "loaded").map((m) => m.spec.name);
  }

  /** Jobs in slots and jobs that wait, for a slot or for a load. */
  counts(): { active: number; queued: number } {
    let active = 0;
    let queued = 0;
    for (const model of this.#models.values()) {
      active += model.pool.active;
      queued += model.pool.queued + model.waiting.length;
    }
    return { active, queued };
  }

  /** Which job each slot of a model serves. */
  slots(model: string): (string | null)[] {
    return this.#get(model).pool.jobs();
  }

  /** A job for a model that this engine has. */
  arrive(job: ModelJob, now: number, autoload = this.#options.autoload): Effect[] {
    const model = this.#get(job.model);
    model.lastUsed = now;
    if (model.phase === "unloaded" && !autoload) {
      return [{ kind: "refuse", job: job.id, error: engineError(400, "model is not loaded") }];
    }
    this.#modelOfJob.set(job.id, job.model);
    if (model.phase === "loaded") return this.#started(job.model, model.pool.add(job, now));
    model.waiting.push(job);
    return model.phase === "unloaded" ? this.#want(job.model) : [];
  }

  /** A load under way has ended; `ok` false: it failed, and whoever waited for it is refused. */
  loadEnded(name: string, ok: boolean, now: number): Effect[] {
    const model = this.#get(name);
    if (model.phase !== "loading") return [];
    model.failed = !ok;
    if (!ok) {
      model.phase = "unloaded";
      return [{ kind: "unloaded", model: name, why: "failed" }, ...this.#refuseWaiting(model), ...this.#advance()];
    }
    model.phase = "loaded";
    model.lastUsed = now;
    const jobs = model.waiting;
    model.waiting = [];
    return [...jobs.flatMap((job) => this.#started(name, model.pool.add(job, now))), ...this.#advance()];
  }

  /** A job was answered (`answer`: its text) or its caller left, wherever the job stood. */
  leave(jobId: string, answer: string, now: number): Effect[] {
    const name = this.#modelOfJob.get(jobId);
    if (name === undefined) return [];
    this.#modelOfJob.delete(jobId);
    const model = this.#get(name);
    if (model.waiting.some((job) => job.id === jobId)) {
      model.waiting = model.waiting.filter((job) => job.id !== jobId);
      // Nobody is left who wants it, so that its turn to load lapses; a load under way goes on.
      if (model.waiting.length === 0) this.#wanted = this.#wanted.filter((wanted) => wanted !== name);
      return [];
    }
    const effects = this.#started(name, model.pool.release(jobId, answer, now));
    if (model.pool.active > 0) return effects;
    if (model.phase === "stopping") effects.push(...this.#stopped(model));
    return [...effects, ...this.#advance()];
  }

  /** Asks for a load, as `POST /models/load` does: the answer comes at once. */
  load(name: string): EngineError | Effect[] {
    const model = this.#get(name);
    if (model.phase !== "unloaded" || this.#wanted.includes(name)) return engineError(400, "model is already running");
    return this.#want(name);
  }

  /** Unloads: at once when idle or loading, else when the running answers have ended. */
  unload(name: string): EngineError | Effect[] {
    const model = this.#get(name);
    if (model.phase === "unloaded") return engineError(400, "model is not running");
    if (model.phase === "loading") {
      model.phase = "unloaded";
      const effects: Effect[] = [
        { kind: "stop-load", model: name },
        { kind: "unloaded", model: name, why: "asked" },
      ];
      return [...effects, ...this.#refuseWaiting(model), ...this.#advance()];
    }
    model.phase = "stopping";
    model.why = "asked";
    const refused = model.pool.takeQueue().map((job) => this.#refuse(job, "proxy error: Failed to read connection"));
    return model.pool.active > 0 ? refused : [...refused, ...this.#stopped(model), ...this.#advance()];
  }

  #want(name: string): Effect[] {
    if (!this.#wanted.includes(name)) this.#wanted.push(name);
    return this.#advance();
  }

  /** Starts the wanted loads that there is room for, and makes room for the first one. */
  #advance(): Effect[] {
    const effects: Effect[] = [];
    for (;;) {
      const name = this.#wanted[0];
      if (name === undefined) return effects;
      const inMemory = [...this.#models.values()].filter((model) => model.phase !== "unloaded");
      if (this.#options.maxLoaded === 0 || inMemory.length < this.#options.maxLoaded) {
        this.#wanted.shift();
        this.#get(name).phase = "loading";
        effects.push({ kind: "load", model: name });
        continue;
      }
      if (inMemory.some((model) => model.phase === "stopping")) return effects;
      const oldest = inMemory.filter((model) => model.phase === "loaded").sort((a, b) => a.lastUsed - b.lastUsed);
      const victim = oldest.find((model) => model.pool.active === 0) ?? oldest[0];
      if (victim === undefined) return effects;
      victim.phase = "stopping";
      victim.why = "evicted";
      victim.waiting = victim.pool.takeQueue().map((job) => ({ ...job, model: victim.spec.name }));
      if (victim.pool.active > 0) return effects;
      effects.push(...this.#stopped(victim));
    }
  }

  /** The last answer of a stopping model has ended. Its caches are gone. */
  #stopped(model: ModelState): Effect[] {
    model.phase = "unloaded";
    model.pool = new SlotPool(this.#options.slots);
    if (model.waiting.length > 0) this.#wanted.push(model.spec.name);
    return [{ kind: "unloaded", model: model.spec.name, why: model.why }];
  }

  #started(model: string, start: SlotStart | null): Effect[] {
    return start === null ? [] : [{ kind: "start", model, ...start }];
  }

  #refuseWaiting(model: ModelState): Effect[] {
    const jobs = model.waiting;
    model.waiting = [];
    return jobs.map((job) => this.#refuse(job, `model name=${model.spec.name} failed to load`));
  }

  #refuse(job: SlotJob, message: string): Effect {
    this.#modelOfJob.delete(job.id);
    return { kind: "refuse", job: job.id, error: engineError(500, message) };
  }

  #get(name: string): ModelState {
    const model = this.#models.get(name);
    if (model === undefined) throw new Error(`no model ${name} in this engine`);
    return model;
  }
}
