import { SortedList } from "./sorted-list.ts";
import type { Job, Priority } from "./types.ts";

/** A job in the queue. */
export interface Waiting {
  readonly job: Job;
  readonly arrivedAt: number;
  /** Order of arrival at this scheduler; decides between jobs of the same millisecond. */
  readonly seq: number;
  /** The class that it counts in now: a batch job becomes interactive with age. */
  priority: Priority;
}

/** One caller's waiting jobs within a class, and when its turn comes. */
interface Lane {
  readonly caller: string;
  turn: number;
  readonly jobs: SortedList<Waiting>;
}

export const byArrival = (a: Waiting, b: Waiting): number => a.arrivedAt - b.arrivedAt || a.seq - b.seq;

/** The jobs of one class: callers in turn, each caller's jobs in order of arrival. */
class CallersInTurn {
  readonly #lanes = new Map<string, Lane>();
  readonly #ring = new SortedList<Lane>((a, b) => a.turn - b.turn);
  #turns = 0;
  size = 0;

  add(entry: Waiting): void {
    let lane = this.#lanes.get(entry.job.caller);
    if (lane === undefined) {
      // A newcomer goes to the end of the round, so that no stream of ever new callers overtakes anybody.
      lane = { caller: entry.job.caller, turn: ++this.#turns, jobs: new SortedList(byArrival) };
      this.#lanes.set(lane.caller, lane);
      this.#ring.insert(lane);
    }
    lane.jobs.insert(entry);
    this.size += 1;
  }

  remove(entry: Waiting): void {
    const lane = this.#lanes.get(entry.job.caller);
    if (lane === undefined) return;
    const before = lane.jobs.size;
    lane.jobs.remove(entry);
    this.size -= before - lane.jobs.size;
    if (lane.jobs.size === 0) this.#close(lane);
  }

  take(): Waiting | undefined {
    const lane = this.#ring.first;
    const entry = lane?.jobs.shift();
    if (lane === undefined || entry === undefined) return undefined;
    this.size -= 1;
    this.#ring.shift();
    lane.turn = ++this.#turns;
    if (lane.jobs.size === 0) this.#lanes.delete(lane.caller);
    else this.#ring.insert(lane);
    return entry;
  }

  /** How many of this class are taken before the entry, as things stand. */
  ahead(entry: Waiting): number {
    const own = this.#lanes.get(entry.job.caller);
    if (own === undefined) return 0;
    const place = own.jobs.rank(entry);
    let count = place;
    for (const lane of this.#ring) {
      if (lane !== own) count += Math.min(lane.jobs.size, lane.turn < own.turn ? place + 1 : place);
    }
    return count;
  }

  /** At most `limit` jobs in the order in which they are taken, as things stand. */
  inOrder(limit: number): Waiting[] {
    const lanes = Array.from(this.#ring, ({ jobs }) => jobs.head(limit));
    const order: Waiting[] = [];
    for (let round = 0; order.length < limit && lanes.some((jobs) => round < jobs.length); round += 1) {
      for (const jobs of lanes) {
        const entry = jobs[round];
        if (entry !== undefined) order.push(entry);
      }
    }
    return order.slice(0, limit);
  }

  #close(lane: Lane): void {
    this.#ring.remove(lane);
    this.#lanes.delete(lane.caller);
  }
}

/**
 * The waiting jobs of one model (rule R7). The next one is:
 *
 * 1. a `load`, which needs no slot (`takeLoad`);
 * 2. an interactive request, or a batch request that has waited `maxWait`;
 * 3. another batch request;
 * 4. within 2 and within 3: callers in turn, and of one caller in order of arrival.
 */
export class ModelQueue {
  readonly #maxWait: number;
  readonly #all = new SortedList<Waiting>(byArrival);
  readonly #loads = new SortedList<Waiting>(byArrival);
  readonly #ageing = new SortedList<Waiting>(byArrival);
  readonly #classes = { interactive: new CallersInTurn(), batch: new CallersInTurn() };

  constructor(maxWait: number) {
    this.#maxWait = maxWait;
  }

  /** Requests and loads together. */
  get size(): number {
    return this.#all.size;
  }

  /** `load` jobs among them. */
  get loads(): number {
    return this.#loads.size;
  }

  get oldest(): Waiting | undefined {
    return this.#all.first;
  }

  add(entry: Waiting): void {
    this.#all.insert(entry);
    if (entry.job.kind === "load") {
      this.#loads.insert(entry);
      return;
    }
    this.#classes[entry.priority].add(entry);
    if (entry.priority === "batch") this.#ageing.insert(entry);
  }

  remove(entry: Waiting): void {
    this.#all.remove(entry);
    if (entry.job.kind === "load") {
      this.#loads.remove(entry);
      return;
    }
    this.#classes[entry.priority].remove(entry);
    if (entry.priority === "batch") this.#ageing.remove(entry);
  }

  /** (1) */
  takeLoad(): Waiting | undefined {
    const entry = this.#loads.shift();
    if (entry !== undefined) this.#all.remove(entry);
    return entry;
  }

  take(now: number): Waiting | undefined {
    this.#promote(now);
    const { interactive, batch } = this.#classes;
    const entry = interactive.take() ?? batch.take(); // (2), (3), (4)
    if (entry === undefined) return undefined;
    this.#all.remove(entry);
    if (entry.priority === "batch") this.#ageing.remove(entry);
    return entry;
  }

  /** The oldest request whatever its class and caller: strict arrival order. */
  takeOldest(): Waiting | undefined {
    for (const entry of this.#all) {
      if (entry.job.kind !== "request") continue;
      this.remove(entry);
      return entry;
    }
    return undefined;
  }

  /** 1 for the job that is taken next; costs a look at each caller. */
  position(entry: Waiting, now: number): number {
    this.#promote(now);
    if (entry.job.kind === "load") return this.#loads.rank(entry) + 1;
    const { interactive, batch } = this.#classes;
    const ahead = entry.priority === "batch" ? interactive.size + batch.ahead(entry) : interactive.ahead(entry);
    return this.#loads.size + ahead + 1;
  }

  /** At most `limit` waiting jobs in the order in which they are taken, as things stand. */
  inOrder(limit: number, now: number): Waiting[] {
    this.#promote(now);
    const { interactive, batch } = this.#classes;
    const requests = [...interactive.inOrder(limit), ...batch.inOrder(limit)];
    return [...this.#loads.head(limit), ...requests].slice(0, limit);
  }

  /** Every waiting job, oldest first; a copy, so that they may be removed on the way. */
  entries(): Waiting[] {
    return [...this.#all];
  }

  #promote(now: number): void {
    for (let entry = this.#ageing.first; entry !== undefined; entry = this.#ageing.first) {
      if (now < entry.arrivedAt + this.#maxWait) return;
      this.#ageing.shift();
      this.#classes.batch.remove(entry);
      entry.priority = "interactive";
      this.#classes.interactive.add(entry);
    }
  }
}
