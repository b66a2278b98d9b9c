import type { InflightByModel } from "../routing/types.ts";
import type { Counts, Hub, OwnCounts } from "../together/hub.ts";

interface WorkerCount {
  total: number;
  /** By `nameKey` of the model. */
  pairs: Map<string, number>;
}

const NOBODY: ReadonlyMap<string, number> = new Map();

/**
 * Requests that are at a worker at this moment, of this gateway and of those with which it acts as one. The one place
 * where its own counts change: up at `enter`, down once by what `enter` gave back. No poll resets them, and what is zero
 * takes no memory. What bears no `own` in its name is of the whole farm.
 */
export class Inflight implements InflightByModel, OwnCounts {
  /** null: there are no others. */
  readonly #hub: Pick<Hub, "others" | "counted"> | null;
  readonly #workers = new Map<string, WorkerCount>();
  /** Requests of limited keys. */
  readonly #callers = new Map<string, number>();
  readonly #atPoll = new Map<string, ReadonlyMap<string, number>>();
  /** Places for which a claim is under way: counted for who routes here, and not told. */
  readonly #asked = new Map<string, WorkerCount>();
  #total = 0;
  #freed = 0;

  constructor(hub: Pick<Hub, "isShared" | "others" | "counted"> | null = null) {
    this.#hub = hub?.isShared ? hub : null;
  }

  /**
   * Counts one request for the model of `key` at the worker; call the result when it ends (again: nothing happens).
   * `isClaimed`: the hub counts it already.
   */
  enter(worker: string, key: string, isClaimed: boolean = false): () => void {
    add(this.#workers, worker, key);
    this.#total += 1;
    if (!isClaimed) this.#hub?.counted(worker, key);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      takeAway(this.#workers, worker, key);
      this.#total -= 1;
      this.#freed += 1;
      this.#hub?.counted(worker, key);
    };
  }

  /** A place there is being claimed; call the result once, when that is answered. */
  ask(worker: string, key: string): () => void {
    add(this.#asked, worker, key);
    return () => takeAway(this.#asked, worker, key);
  }

  /** The same for a request of a limited key. */
  enterCaller(name: string, isClaimed: boolean): () => void {
    this.#callers.set(name, (this.#callers.get(name) ?? 0) + 1);
    if (!isClaimed) this.#hub?.counted(null, name);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const rest = (this.#callers.get(name) ?? 0) - 1;
      if (rest > 0) this.#callers.set(name, rest);
      else this.#callers.delete(name);
      this.#hub?.counted(null, name);
    };
  }

  worker(name: string): number {
    const own = this.ownWorker(name);
    if (this.#hub === null) return own;
    return own + (this.#asked.get(name)?.total ?? 0) + this.#hub.others.worker(name);
  }

  pair(name: string, key: string): number {
    const own = pairIn(this.#workers, name, key);
    return this.#hub === null ? own : own + pairIn(this.#asked, name, key) + this.#hub.others.pair(name, key);
  }

  pairs(worker: string): ReadonlyMap<string, number> {
    const own = this.#workers.get(worker)?.pairs ?? NOBODY;
    if (this.#hub === null) return own;
    return sum(sum(own, this.#asked.get(worker)?.pairs ?? NOBODY), this.#hub.others.pairs(worker));
  }

  /** The others' counts have changed. */
  othersChanged(): void {
    this.#freed += 1;
  }

  /** Grows whenever a place may have become free, here or at the others'. */
  get freed(): number {
    return this.#freed;
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

  /** Of this gateway alone. */
  ownWorker(name: string): number {
    return this.#workers.get(name)?.total ?? 0;
  }

  /** Of this gateway alone, at all workers together. */
  ownTotal(): number {
    return this.#total;
  }

  /** Of this gateway alone, by worker and by model. */
  counts(): Counts {
    return new Map(Array.from(this.#workers, ([worker, { pairs }]) => [worker, new Map(pairs)]));
  }

  /** Of this gateway alone, by the names of limited keys. */
  callers(): ReadonlyMap<string, number> {
    return new Map(this.#callers);
  }
}

function add(workers: Map<string, WorkerCount>, worker: string, key: string): void {
  let count = workers.get(worker);
  if (count === undefined) {
    count = { total: 0, pairs: new Map() };
    workers.set(worker, count);
  }
  count.total += 1;
  count.pairs.set(key, (count.pairs.get(key) ?? 0) + 1);
}

function takeAway(workers: Map<string, WorkerCount>, worker: string, key: string): void {
  const count = workers.get(worker);
  if (count === undefined) return;
  count.total -= 1;
  const rest = (count.pairs.get(key) ?? 0) - 1;
  if (rest > 0) count.pairs.set(key, rest);
  else count.pairs.delete(key);
  if (count.total === 0) workers.delete(worker);
}

function pairIn(workers: ReadonlyMap<string, WorkerCount>, worker: string, key: string): number {
  return workers.get(worker)?.pairs.get(key) ?? 0;
}

function sum(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  if (a.size === 0 || b.size === 0) return a.size === 0 ? b : a;
  const both = new Map(a);
  for (const [key, count] of b) both.set(key, (both.get(key) ?? 0) + count);
  return both;
}
