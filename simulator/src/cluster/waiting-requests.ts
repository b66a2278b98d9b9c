/** A request in a queue. It is a job of the gateway's scheduling, too. */
export interface Waiting {
  readonly request: number;
  readonly arrivedAt: number;
  /** Milliseconds that an undisturbed replica would take for its prompt. */
  readonly processing: number;
  /** By which it should have its first token; relaxed so often. */
  deadline: number;
  relaxed: number;
  /** The smallest goes first. */
  key: number;
}

/** The requests of an application that no instance has taken, in order of their keys; of equal ones as they came. */
export class WaitingRequests {
  readonly list: Waiting[] = [];

  get size(): number {
    return this.list.length;
  }

  add(waiting: Waiting): void {
    const { list } = this;
    let low = 0;
    let high = list.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isBefore(waiting, list[middle] as Waiting)) high = middle;
      else low = middle + 1;
    }
    list.splice(low, 0, waiting);
  }

  /** Takes it out by its place in `list`. */
  take(place: number): Waiting {
    const taken = place === 0 ? this.list.shift() : this.list.splice(place, 1)[0];
    if (taken === undefined) throw new Error(`nobody waits at place ${place}`);
    return taken;
  }

  /** Takes out all that `isGone` says, in order. */
  takeWhere(isGone: (waiting: Waiting) => boolean): Waiting[] {
    const gone: Waiting[] = [];
    let place = 0;
    for (const waiting of this.list) {
      if (isGone(waiting)) gone.push(waiting);
      else this.list[place++] = waiting;
    }
    this.list.length = place;
    return gone;
  }
}

function isBefore(a: Waiting, b: Waiting): boolean {
  return a.key < b.key || (a.key === b.key && a.request < b.request);
}
