// A scheduler with a crowd before it that stays as large as it is: whoever is granted or leaves is replaced.
import type { Random } from "@farmgate/shared";
import { type ModelRules, Scheduler, type SchedulerEffect, type SchedulerEvent } from "@farmgate/worker-agent";

export interface CrowdSize {
  models: number;
  /** Gigabytes; 0: one model at a time. */
  budget: number;
  /** Jobs that wait. */
  queued: number;
}

const GB = 1_000_000_000;
/** Gigabytes of the models, in turn. */
const SIZES = [4, 8, 12, 20];
/** Virtual milliseconds between two events: nobody waits for `maxWait` yet, so that room is looked for everybody. */
const EVENT_EVERY = 2;
/** Virtual milliseconds, as few as 50 events: while a model is on its way in, room is looked for nobody. */
const LOAD_MS = 100;
const DEADLINE_MS = 600_000;

export class Crowd {
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  readonly #models: readonly string[];
  readonly #waiting: string[] = [];
  readonly #places = new Map<string, number>();
  readonly #running: string[] = [];
  #load: { model: string; endsAt: number } | null = null;
  loads = 0;
  #now = 0;
  #jobs = 0;

  constructor({ models, budget, queued }: CrowdSize, random: Random) {
    this.#random = random;
    this.#models = Array.from({ length: models }, (_, index) => `model-${index}`);
    const limits = { maxBatch: 64, maxWait: 60_000, minResident: 0, gather: 0, maxDepth: 1_000_000 };
    const failures = { failureLimit: 3, failureReset: 300_000 };
    this.#scheduler = new Scheduler({ ...limits, ...failures, budget: budget * GB, models: this.#models.map(rulesOf) });
    for (let job = 0; job < queued; job += 1) this.arrive();
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  arrive(): void {
    this.#jobs += 1;
    const id = String(this.#jobs);
    this.#places.set(id, this.#waiting.push(id) - 1);
    const model = this.#models.at(this.#below(this.#models.length)) as string;
    const priority = this.#below(4) === 0 ? "batch" : "interactive";
    const times = { arrivedAt: this.#now, deadlineAt: this.#now + DEADLINE_MS };
    const caller = `caller ${this.#below(7)}`;
    this.#send({ type: "arrive", job: { id, requestId: id, model, caller, priority, ...times, kind: "request" } });
  }

  /** An answer ends, and its slot goes to another job. */
  done(): void {
    while (this.#running.length === 0 && this.#load !== null) this.#endLoad(this.#load);
    const id = this.#running.shift();
    if (id !== undefined) this.#send({ type: "done", id });
  }

  /** One of those that wait leaves. */
  leave(): void {
    const id = this.#waiting[this.#below(this.#waiting.length)];
    if (id === undefined) return;
    this.#forget(id);
    this.#send({ type: "leave", id });
  }

  tick(): void {
    this.#send({ type: "tick" });
  }

  #send(event: SchedulerEvent): void {
    this.#now += EVENT_EVERY;
    this.#take(this.#scheduler.on(event, this.#now));
    if (this.#load !== null && this.#load.endsAt <= this.#now) this.#endLoad(this.#load);
  }

  #begin(model: string): void {
    this.loads += 1;
    this.#load = { model, endsAt: this.#now + LOAD_MS };
  }

  #endLoad({ model, endsAt }: { model: string; endsAt: number }): void {
    this.#load = null;
    this.#now = Math.max(this.#now, endsAt);
    this.#take(this.#scheduler.on({ type: "swapped", model }, this.#now));
  }

  #take(effects: readonly SchedulerEffect[]): void {
    for (const effect of effects) {
      if (effect.type === "swap") this.#begin(effect.model);
      if (effect.type === "grant") {
        this.#forget(effect.id);
        this.#running.push(effect.id);
      }
      if (effect.type === "reject") throw new Error(`the bench's job was rejected: ${effect.message}`);
    }
  }

  #forget(id: string): void {
    const place = this.#places.get(id);
    const last = this.#waiting.pop();
    if (place === undefined || last === undefined) throw new Error(`${id} does not wait`);
    this.#places.delete(id);
    if (last === id) return;
    this.#waiting[place] = last;
    this.#places.set(last, place);
  }

  #below(count: number): number {
    return Math.floor(this.#random() * count);
  }
}

function rulesOf(name: string, index: number): ModelRules {
  const memory = (SIZES.at(index % SIZES.length) as number) * GB;
  return { name, slots: 4, memory, pinned: false, ttl: 0, preload: false, restart: false, unloads: true };
}
