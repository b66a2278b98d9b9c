import { takeRequest } from "@farmgate/shared";
import type { Allowance, Claim, Claimed, Counts, KeyLimits, WantedPlace } from "../hub.ts";
import { LeaseBook } from "./lease-book.ts";
import { Tally } from "./tally.ts";

/** What a member tells of its own requests: all of those at these workers and of these keys, other ones stay. */
export interface Told {
  /** The number of its last claim whose answer is in these counts; 0: none. */
  answered: number;
  counts: Counts;
  callers: ReadonlyMap<string, number>;
}

/** What all others have at some workers, and of some keys. */
export type OfOthers = Pick<Told, "counts" | "callers">;

/** What a claim took, until the member's own counts have it. */
interface Taken {
  claim: number;
  worker: string | null;
  key: string;
  caller: string | null;
}

interface Member {
  tally: Tally;
  /** In the tally as well. */
  taken: Taken[];
}

/**
 * Where members that act as one count together. Every step is done whole before the next, so no cap is ever exceeded
 * by claims. A member's counts are what it told last and what it was given since; they go when it leaves.
 */
export class HubRoom {
  readonly #members = new Map<string, Member>();
  readonly #all = new Tally();
  /** When what a key has spent of its minute is there again. */
  readonly #fullAt = new Map<string, number>();
  readonly #leases: LeaseBook;
  /** What changed since `takeChanges`, and by which one; null: by several. */
  readonly #changedWorkers = new Map<string, string | null>();
  readonly #changedCallers = new Map<string, string | null>();

  /** Leases' fences grow from `fence` on, which must be above all of earlier rooms. */
  constructor(fence: number) {
    this.#leases = new LeaseBook(fence);
  }

  /** Sorted. */
  members(): string[] {
    return [...this.#members.keys()].sort();
  }

  /** Again: it begins anew, with nothing. */
  join(member: string): void {
    this.leave(member);
    this.#members.set(member, { tally: new Tally(), taken: [] });
  }

  leave(member: string): void {
    const left = this.#members.get(member);
    if (left === undefined) return;
    for (const worker of left.tally.workers()) this.#setWorker(member, left, worker, new Map());
    for (const caller of left.tally.callers()) this.#addCaller(member, left, caller, -left.tally.caller(caller));
    this.#leases.giveUpAll(member);
    this.#members.delete(member);
  }

  /** Its own counts, as they were when it told them. */
  tell(member: string, told: Told): void {
    const known = this.#members.get(member);
    if (known === undefined) return;
    for (const { worker, key, caller } of known.taken.filter(({ claim }) => claim <= told.answered)) {
      if (worker !== null) this.#add(member, known, worker, key, -1);
      if (caller !== null) this.#addCaller(member, known, caller, -1);
    }
    known.taken = known.taken.filter(({ claim }) => claim > told.answered);
    for (const [worker, pairs] of told.counts) {
      const now = new Map(pairs);
      for (const taken of known.taken) if (taken.worker === worker) now.set(taken.key, (now.get(taken.key) ?? 0) + 1);
      this.#setWorker(member, known, worker, now);
    }
    for (const [caller, count] of told.callers) {
      const more = known.taken.filter((taken) => taken.caller === caller).length;
      this.#addCaller(member, known, caller, count + more - known.tally.caller(caller));
    }
  }

  /**
   * Takes what a request needs; a member's claims are numbered from 1 on, and each of its `answered` has all up to it.
   *
   * 1. Its key has as many requests under way as it may: limited, until one ends.
   * 2. Its key's minute is spent: limited, for the time until the next.
   * 3. No place is wanted: the key's is taken.
   * 4. None of the places is below its cap: full, and the key's is taken.
   * 5. The first of them, or the one with the least load for its capacity, is taken.
   */
  claim(member: string, number: number, { key, places, take, caller }: Claim, now: number): Claimed {
    const known = this.#members.get(member);
    if (known === undefined) return { kind: "alone" };
    // 1
    const { name = null, maxConcurrent = 0 } = caller ?? {};
    if (name !== null && maxConcurrent > 0 && this.caller(name) >= maxConcurrent) {
      return { kind: "limited", by: "concurrent", retryMs: null };
    }
    // 2
    const spent = caller === null ? null : this.#spend(caller, now);
    if (spent !== null && "retryMs" in spent) return { kind: "limited", by: "rate", retryMs: spent.retryMs };
    // 4, 5
    const place = this.#choose(places, take);
    const worker = place?.worker ?? null;
    if (name !== null) this.#addCaller(member, known, name, 1);
    if (worker !== null) this.#add(member, known, worker, key, 1);
    if (name !== null || worker !== null) known.taken.push({ claim: number, worker, key, caller: name });
    // 3
    if (place === null && places.length > 0) return { kind: "full", allowance: spent };
    return { kind: "taken", worker, allowance: spent };
  }

  /** Requests under way of all members together. */
  worker(name: string): number {
    return this.#all.worker(name);
  }

  pair(name: string, key: string): number {
    return this.#all.pair(name, key);
  }

  caller(name: string): number {
    return this.#all.caller(name);
  }

  askLease(member: string, name: string): void {
    if (this.#members.has(member)) this.#leases.ask(name, member);
  }

  giveUpLease(member: string, name: string): void {
    this.#leases.giveUp(name, member);
  }

  /** The fences of the leases that this one holds, by name. */
  leasesOf(member: string): ReadonlyMap<string, number> {
    return this.#leases.heldBy(member);
  }

  /** All that the others have. */
  othersOf(member: string): OfOthers {
    return this.#ofOthers(member, this.#all.workers(), this.#all.callers());
  }

  /** For each member what the others have now where that has changed since this was asked last. */
  takeChanges(): ReadonlyMap<string, OfOthers> {
    const changes = new Map<string, OfOthers>();
    for (const member of this.#members.keys()) {
      const workers = changedFor(this.#changedWorkers, member);
      const callers = changedFor(this.#changedCallers, member);
      if (workers.length + callers.length > 0) changes.set(member, this.#ofOthers(member, workers, callers));
    }
    this.#changedWorkers.clear();
    this.#changedCallers.clear();
    return changes;
  }

  #choose(places: readonly WantedPlace[], take: Claim["take"]): WantedPlace | null {
    let best: WantedPlace | null = null;
    let least = Number.POSITIVE_INFINITY;
    for (const place of places) {
      const count = this.#all.worker(place.worker);
      if (place.cap > 0 && count >= place.cap) continue;
      if (take === "first") return place;
      const load = count / place.capacity;
      if (load < least) {
        least = load;
        best = place;
      }
    }
    return best;
  }

  /** null: it has no rate. */
  #spend({ name, requestsPerMinute }: KeyLimits, now: number): Allowance | { retryMs: number } | null {
    if (requestsPerMinute === 0) return null;
    const { taken, fullAt, remaining, resetMs, retryMs } = takeRequest(this.#fullAt.get(name), now, requestsPerMinute);
    if (!taken) return { retryMs };
    this.#fullAt.set(name, fullAt);
    return { remaining, resetMs };
  }

  #setWorker(member: string, known: Member, worker: string, pairs: ReadonlyMap<string, number>): void {
    const before = new Map(known.tally.pairs(worker));
    for (const key of new Set([...before.keys(), ...pairs.keys()])) {
      this.#add(member, known, worker, key, (pairs.get(key) ?? 0) - (before.get(key) ?? 0));
    }
  }

  #add(member: string, { tally }: Member, worker: string, key: string, by: number): void {
    if (by === 0) return;
    tally.add(worker, key, by);
    this.#all.add(worker, key, by);
    note(this.#changedWorkers, worker, member);
  }

  #addCaller(member: string, { tally }: Member, caller: string, by: number): void {
    if (by === 0) return;
    tally.addCaller(caller, by);
    this.#all.addCaller(caller, by);
    note(this.#changedCallers, caller, member);
  }

  #ofOthers(member: string, workers: Iterable<string>, callers: Iterable<string>): OfOthers {
    const own = this.#members.get(member);
    const counts = Array.from(workers, (worker): [string, Map<string, number>] => {
      const pairs = Array.from(this.#all.pairs(worker), ([key, count]): [string, number] => [
        key,
        count - (own?.tally.pair(worker, key) ?? 0),
      ]);
      return [worker, new Map(pairs.filter(([, count]) => count > 0))];
    });
    const ofKeys = Array.from(callers, (caller): [string, number] => [
      caller,
      this.caller(caller) - (own?.tally.caller(caller) ?? 0),
    ]);
    return { counts: new Map(counts), callers: new Map(ofKeys) };
  }
}

/** Only what others changed is news for a member. */
function changedFor(changed: ReadonlyMap<string, string | null>, member: string): string[] {
  return [...changed].filter(([, by]) => by !== member).map(([name]) => name);
}

function note(changed: Map<string, string | null>, name: string, by: string): void {
  const before = changed.get(name);
  changed.set(name, before === undefined || before === by ? by : null);
}
