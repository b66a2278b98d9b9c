import type { Waiting } from "./model-queue.ts";
import { SortedList } from "./sorted-list.ts";

/** The waiting jobs that have a deadline, the next one first. */
export class Deadlines {
  readonly #jobs = new SortedList<Waiting>((a, b) => deadlineOf(a) - deadlineOf(b) || a.seq - b.seq);

  add(entry: Waiting): void {
    if (entry.job.deadlineAt !== null) this.#jobs.insert(entry);
  }

  remove(entry: Waiting): void {
    if (entry.job.deadlineAt !== null) this.#jobs.remove(entry);
  }

  /** On the scheduler's clock; null: nobody has one. */
  get next(): number | null {
    return this.#jobs.first?.job.deadlineAt ?? null;
  }

  /** A job whose deadline has passed. */
  passed(now: number): Waiting | undefined {
    const { first } = this.#jobs;
    return first !== undefined && deadlineOf(first) <= now ? first : undefined;
  }
}

function deadlineOf(entry: Waiting): number {
  return entry.job.deadlineAt ?? Number.POSITIVE_INFINITY;
}
