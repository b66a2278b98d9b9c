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

export interface WaitingRoomLimits {
  /** How many may wait. */
  queue: number;
  /** Bytes that all of them may hold together. */
  queueBytes: number;
}

/** First come, first served, for each group of requests. Knows neither time nor sockets. */
export class WaitingRoom {
  readonly #waiters = new Set<Waiter>();
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
    let count = 0;
    for (const waiter of this.#waiters) if (waiter.group === group) count += 1;
    return count;
  }

  /** False when there is no room. */
  enter(waiter: Waiter, limits: WaitingRoomLimits): boolean {
    if (this.#waiters.size >= limits.queue || this.#bytes + waiter.bytes > limits.queueBytes) return false;
    this.#waiters.add(waiter);
    this.#bytes += waiter.bytes;
    return true;
  }

  /** Harmless for one that is not there any more. */
  leave(waiter: Waiter): void {
    if (this.#waiters.delete(waiter)) this.#bytes -= waiter.bytes;
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
      if (stuck.has(waiter.group)) continue;
      if (waiter.tryGo()) this.leave(waiter);
      else stuck.add(waiter.group);
    }
  }

  turnAllAway(): void {
    for (const waiter of this.#waiters) {
      this.leave(waiter);
      waiter.turnAway();
    }
  }
}
