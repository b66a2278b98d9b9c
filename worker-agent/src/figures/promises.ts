import { promisedRest, type Terms, type Told } from "../queue/promise.ts";
import type { SchedulerView, WaitingJob } from "../queue/types.ts";

/** What each waiting job was promised, so that nobody is told worse later. */
export class Promises {
  #told: ReadonlyMap<string, Told> = new Map();

  /**
   * What is left of the promise for each of these jobs, in milliseconds, in their order; null: not known. Whoever is
   * not among them is forgotten.
   */
  rest(jobs: readonly WaitingJob[], view: SchedulerView, terms: Terms, now: number): (number | null)[] {
    const told = new Map<string, Told>();
    const loaded = new Set(view.loaded);
    const rests = jobs.map((job) => {
      const at = { at: now, loaded: loaded.has(job.model) };
      const promise = promisedRest(job, this.#told.get(job.id) ?? null, at, terms);
      if (promise !== null) told.set(job.id, promise.told);
      return promise?.restMs ?? null;
    });
    this.#told = told;
    return rests;
  }
}
