import type { Claim, Claimed, Counts, Hub, KeyLimits, OwnCounts } from "../../src/together/hub.ts";

/** Where hubs of one farm are made. */
export interface MeetingPlace {
  /** A further member, not started. */
  hub(id: string): Hub;
  /** This member's program has died: it says nothing any more. */
  drop(id: string): void;
}

/** What a gateway has under way, told to its hub as a gateway does. */
export class Member implements OwnCounts {
  readonly hub: Hub;
  readonly #counts = new Map<string, Map<string, number>>();
  readonly #callers = new Map<string, number>();

  constructor(hub: Hub) {
    this.hub = hub;
  }

  counts(): Counts {
    return new Map(Array.from(this.#counts, ([worker, pairs]) => [worker, new Map(pairs)]));
  }

  callers(): ReadonlyMap<string, number> {
    return new Map(this.#callers);
  }

  /** Claims, and counts what was taken. */
  async claim(claim: Claim): Promise<Claimed> {
    const claimed = await this.hub.claim(claim);
    if (claimed.kind === "taken" && claimed.worker !== null) this.#add(claimed.worker, claim.key, 1);
    if ((claimed.kind === "taken" || claimed.kind === "full") && claim.caller !== null)
      this.#addCaller(claim.caller.name, 1);
    return claimed;
  }

  /** Takes a place without asking. */
  enter(worker: string, key: string = "m"): void {
    this.#add(worker, key, 1);
    this.hub.counted(worker, key);
  }

  leave(worker: string, key: string = "m"): void {
    this.#add(worker, key, -1);
    this.hub.counted(worker, key);
  }

  callerLeaves(name: string): void {
    this.#addCaller(name, -1);
    this.hub.counted(null, name);
  }

  #add(worker: string, key: string, by: number): void {
    const pairs = this.#counts.get(worker) ?? new Map<string, number>();
    this.#counts.set(worker, pairs.set(key, (pairs.get(key) ?? 0) + by));
  }

  #addCaller(name: string, by: number): void {
    this.#callers.set(name, (this.#callers.get(name) ?? 0) + by);
  }
}

export function wants(places: Record<string, number>, more: Partial<Claim> = {}): Claim {
  const wanted = Object.entries(places).map(([worker, cap]) => ({ worker, cap, capacity: 1 }));
  return { key: "m", places: wanted, take: "first", caller: null, ...more };
}

export function limits(name: string, maxConcurrent: number, requestsPerMinute: number = 0): KeyLimits {
  return { name, maxConcurrent, requestsPerMinute };
}
