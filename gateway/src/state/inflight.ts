import type { InflightByModel } from "../routing/types.ts";

interface WorkerCount {
  total: number;
  /** By `nameKey` of the model. */
  pairs: Map<string, number>;
}

const NOBODY: ReadonlyMap<string, number> = new Map();

/**
 * Requests that are at a worker at this moment. The one place where these counts change: up at `enter`, down once by
 * what `enter` gave back. No poll resets them, and what is zero takes no memory.
 */
export class Inflight implements InflightByModel {
  readonly #workers = new Map<string, WorkerCount>();
  readonly #atPoll = new Map<string, ReadonlyMap<string, number>>();
  #total = 0;

  /** Counts one request for the model of `key` at the worker; call the result when it ends (again: nothing happens). */
  enter(worker: string, key: string): () => void {
    let count = this.#workers.get(worker);
    if (count === undefined) {
      count = { total: 0, pairs: new Map() };
      this.#workers.set(worker, count);
    }
    count.total += 1;
    count.pairs.set(key, (count.pairs.get(key) ?? 0) + 1);
    this.#total += 1;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#leave(worker, key);
    };
  }

  worker(name: string): number {
    return this.#workers.get(name)?.total ?? 0;
  }

  pair(name: string, key: string): number {
    return this.#workers.get(name)?.pairs.get(key) ?? 0;
  }

  pairs(worker: string): ReadonlyMap<string, number> {
    return this.#workers.get(worker)?.pairs ?? NOBODY;
  }

  atPoll(worker: string): ReadonlyMap<string, number> | null {
    return this.#atPoll.get(worker) ?? null;
  }

  /** A good catalogue of the worker came: notes what is there at this moment. */
  polled(worker: string): void {
    const { size } = this.pairs(worker);
    this.#atPoll.set(worker, size === 0 ? NOBODY : new Map(this.pairs(worker)));
  }

  /** Forgets the notes on every worker that is not in `workers`; what is under way stays counted. */
  keepOnly(workers: ReadonlySet<string>): void {
    for (const worker of this.#atPoll.keys()) if (!workers.has(worker)) this.#atPoll.delete(worker);
  }

  /** At all workers together. */
  total(): number {
    return this.#total;
  }

  #leave(worker: string, key: string): void {
    const count = this.#workers.get(worker);
    if (count === undefined) return;
    this.#total -= 1;
    count.total -= 1;
    const rest = (count.pairs.get(key) ?? 0) - 1;
    if (rest > 0) count.pairs.set(key, rest);
    else count.pairs.delete(key);
    if (count.total === 0) this.#workers.delete(worker);
  }
}
