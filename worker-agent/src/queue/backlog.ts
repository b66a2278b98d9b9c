import { Deadlines } from "./deadlines.ts";
import { byArrival, type Waiting } from "./model-queue.ts";
import type { ModelState } from "./model-state.ts";
import type { Models } from "./models.ts";
import { Room } from "./room.ts";
import type { Job, WaitingJob } from "./types.ts";

/** All waiting jobs, of whatever model, with what is known of them beside their model's queue. */
export class Backlog {
  readonly #models: Models;
  readonly #jobs = new Map<string, Waiting>();
  readonly #room = new Room();
  readonly #deadlines = new Deadlines();
  #arrivals = 0;

  constructor(models: Models) {
    this.#models = models;
  }

  get size(): number {
    return this.#jobs.size;
  }

  find(id: string): Waiting | undefined {
    return this.#jobs.get(id);
  }

  get nextDeadline(): number | null {
    return this.#deadlines.next;
  }

  /** A job whose deadline has passed. */
  passed(now: number): Waiting | undefined {
    return this.#deadlines.passed(now);
  }

  add(job: Job, model: ModelState, now: number): Waiting {
    const arrivedAt = Math.min(job.arrivedAt, now);
    const entry: Waiting = { job, arrivedAt, seq: ++this.#arrivals, priority: job.priority };
    this.#jobs.set(job.id, entry);
    this.#room.add(entry);
    this.#deadlines.add(entry);
    model.place.arrived(now);
    model.queue.add(entry);
    this.#models.changed(model);
    return entry;
  }

  /** The model's next job (rule R7); `strict`: in order of arrival alone. */
  take(model: ModelState, strict: boolean, now: number): Waiting | undefined {
    const { queue } = model;
    const entry = queue.takeLoad() ?? (strict ? queue.takeOldest() : queue.take(now));
    if (entry !== undefined) this.#forget(entry);
    this.#models.changed(model);
    return entry;
  }

  /** Takes out a job that ends unserved. */
  remove(entry: Waiting, now: number): void {
    const model = this.#models.of(entry.job.model);
    model.queue.remove(entry);
    this.#forget(entry);
    this.#models.changed(model);
    if (model.queue.size > 0) return;
    model.place.emptied(now);
    model.quietSince = now;
  }

  /** Takes out all jobs of the model. */
  removeAll(model: ModelState): Waiting[] {
    const entries = model.queue.entries();
    for (const entry of entries) {
      model.queue.remove(entry);
      this.#forget(entry);
    }
    this.#models.changed(model);
    return entries;
  }

  /** Who has to go when the newcomer is one too many (rule R9). */
  oneTooMany(newcomer: Waiting): Waiting {
    return this.#room.oneTooMany(newcomer, (model) => this.#models.of(model).rules.slots);
  }

  /** At most `limit` jobs, those first that are next in their model's queue, the older one of equals. */
  list(now: number, limit: number): WaitingJob[] {
    const found: { entry: Waiting; position: number }[] = [];
    for (const { model } of this.#models.line) {
      for (const [index, entry] of model.queue.inOrder(limit, now).entries())
        found.push({ entry, position: index + 1 });
    }
    found.sort((a, b) => a.position - b.position || byArrival(a.entry, b.entry));
    return found.slice(0, limit).map(({ entry: { job, arrivedAt, priority }, position }) => {
      return { id: job.id, requestId: job.requestId, model: job.model, priority, position, waitedMs: now - arrivedAt };
    });
  }

  #forget(entry: Waiting): void {
    this.#jobs.delete(entry.job.id);
    this.#room.remove(entry);
    this.#deadlines.remove(entry);
  }
}
