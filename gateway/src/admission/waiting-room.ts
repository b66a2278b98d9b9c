/** A request that waits for a worker below its cap. */
export interface Waiter {
  /** Requests of one group can be served by the same workers: when the first of them cannot go, none can. */
  group: string;
  /** What it holds in memory. */
  bytes: number;
  /** Takes its worker now, if there is one. Called in order of arrival. */
  tryGo(): boolean;
  /** The gateway drains: it must not wait any longer. */
  turnAway(): void;
}

const isGone = () => true;

export interface WaitingRoomLimits {
  /** How many may wait. */
  queue: number;
  /** Bytes that all of them may hold together. */
  queueBytes: number;
}

/** First come, first served, for each group of requests. Knows neither time nor sockets. */
export class WaitingRoom {
  readonly #waiters = new Set<Waiter>();
  /** How many of each group wait. */
  readonly #groups = new Map<string, number>();
  #bytes = 0;
  #isWaking = false;
  #isWokenAgain = false;

  get size(): number {
    return this.#waiters.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** How many of one group wait. */
  inGroup(group: string): number {
    return this.#groups.get(group) ?? 0;
  }

  /** False when there is no room. */
  enter(waiter: Waiter, limits: WaitingRoomLimits): boolean {
    if (this.#waiters.size >= limits.queue || this.#bytes + waiter.bytes > limits.queueBytes) return false;
    this.#waiters.add(waiter);
    this.#bytes += waiter.bytes;
    this.#groups.set(waiter.group, this.inGroup(waiter.group) + 1);
    return true;
  }

  /** Harmless for one that is not there any more. */
  leave(waiter: Waiter): void {
    if (!this.#waiters.delete(waiter)) return;
    // A Set leaves old tables behind as it changes: what the collector finds in them must not be the request.
    waiter.tryGo = isGone;
    waiter.turnAway = () => {};
    this.#bytes -= waiter.bytes;
    const left = this.inGroup(waiter.group) - 1;
    if (left > 0) this.#groups.set(waiter.group, left);
    else this.#groups.delete(waiter.group);
  }

  /** A worker may have become free, or the catalogue changed: lets go who can, in order of arrival. */
  wake(): void {
    // That one goes may itself be news: it is looked at once this look is over, or one could go twice.
    this.#isWokenAgain = this.#isWaking;
    if (this.#isWaking) return;
    this.#isWaking = true;
    try {
      do {
        this.#isWokenAgain = false;
        this.#letGo();
      } while (this.#isWokenAgain);
    } finally {
      this.#isWaking = false;
    }
  }

  #letGo(): void {
    const stuck = new Set<string>();
    for (const waiter of this.#waiters) {
      // A long queue is looked at with each answer that ends: no further than need be.
      if (stuck.size === this.#groups.size) break;
      if (stuck.has(waiter.group)) continue;
      if (waiter.tryGo()) this.leave(waiter);
      else stuck.add(waiter.group);
    }
  }

  turnAllAway(): void {
    for (const waiter of this.#waiters) {
      const turnAway = waiter.turnAway.bind(waiter);
      this.leave(waiter);
      turnAway();
    }
  }
}
