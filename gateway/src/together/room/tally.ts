import type { Counts, OthersView } from "../hub.ts";

const NONE: ReadonlyMap<string, number> = new Map();

interface Tallied {
  total: number;
  pairs: Map<string, number>;
}

/** Requests under way, by worker and by model there, and by key. What is zero takes no memory. */
export class Tally implements OthersView {
  readonly #workers = new Map<string, Tallied>();
  readonly #callers = new Map<string, number>();

  worker(name: string): number {
    return this.#workers.get(name)?.total ?? 0;
  }

  pair(name: string, key: string): number {
    return this.#workers.get(name)?.pairs.get(key) ?? 0;
  }

  pairs(name: string): ReadonlyMap<string, number> {
    return this.#workers.get(name)?.pairs ?? NONE;
  }

  caller(name: string): number {
    return this.#callers.get(name) ?? 0;
  }

  workers(): Iterable<string> {
    return this.#workers.keys();
  }

  callers(): Iterable<string> {
    return this.#callers.keys();
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

  /** Never leaves less than none. */
  addCaller(name: string, by: number): void {
    const after = this.caller(name) + by;
    if (after > 0) this.#callers.set(name, after);
    else this.#callers.delete(name);
  }

  /** What is there from now on at these workers and of these keys; others stay. */
  set({ counts, callers }: { counts: Counts; callers: ReadonlyMap<string, number> }): void {
    for (const [worker, pairs] of counts) this.#setWorker(worker, pairs);
    for (const [name, count] of callers) this.addCaller(name, count - this.caller(name));
  }

  clear(): void {
    this.#workers.clear();
    this.#callers.clear();
  }

  #setWorker(worker: string, pairs: ReadonlyMap<string, number>): void {
    for (const key of this.pairs(worker).keys()) if (!pairs.has(key)) this.add(worker, key, -this.pair(worker, key));
    for (const [key, count] of pairs) this.add(worker, key, count - this.pair(worker, key));
  }
}
