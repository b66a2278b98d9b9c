const NONE: ReadonlyMap<string, number> = new Map();

interface Tallied {
  total: number;
  pairs: Map<string, number>;
}

/** Requests under way, by worker and by model there. What is zero takes no memory. */
export class Tally {
  readonly #workers = new Map<string, Tallied>();

  worker(name: string): number {
    return this.#workers.get(name)?.total ?? 0;
  }

  pair(name: string, key: string): number {
    return this.#workers.get(name)?.pairs.get(key) ?? 0;
  }

  pairs(name: string): ReadonlyMap<string, number> {
    return this.#workers.get(name)?.pairs ?? NONE;
  }

  workers(): Iterable<string> {
    return this.#workers.keys();
  }

  /** Never leaves less than none. */
  add(worker: string, key: string, by: number): void {
    const before = this.pair(worker, key);
    const after = Math.max(0, before + by);
    if (after === before) return;
    let at = this.#workers.get(worker);
    if (at === undefined) this.#workers.set(worker, (at = { total: 0, pairs: new Map() }));
    at.total += after - before;
    if (after === 0) at.pairs.delete(key);
    else at.pairs.set(key, after);
    if (at.total === 0) this.#workers.delete(worker);
  }

  /** What is there from now on. */
  set(worker: string, pairs: ReadonlyMap<string, number>): void {
    for (const key of this.pairs(worker).keys()) if (!pairs.has(key)) this.add(worker, key, -this.pair(worker, key));
    for (const [key, count] of pairs) this.add(worker, key, count - this.pair(worker, key));
  }
}
