/** Events in virtual time: the earliest first, of equals the one that was put in first. A binary heap. */
export class EventQueue<E> {
  readonly #heap: { at: number; turn: number; event: E }[] = [];
  #turns = 0;

  get size(): number {
    return this.#heap.length;
  }

  /** `at` in milliseconds of virtual time. */
  push(at: number, event: E): void {
    const heap = this.#heap;
    const entry = { at, turn: this.#turns, event };
    this.#turns += 1;
    let place = heap.length;
    heap.push(entry);
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = heap[parent] as (typeof heap)[number];
      if (isBefore(above, entry)) break;
      heap[place] = above;
      place = parent;
    }
    heap[place] = entry;
  }

  pop(): { at: number; event: E } | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || first === last) return first;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      const right = heap[child + 1];
      if (right !== undefined && isBefore(right, heap[child] as typeof right)) child += 1;
      const next = heap[child];
      if (next === undefined || isBefore(last, next)) break;
      heap[place] = next;
      place = child;
    }
    heap[place] = last;
    return first;
  }
}

function isBefore(a: { at: number; turn: number }, b: { at: number; turn: number }): boolean {
  return a.at < b.at || (a.at === b.at && a.turn < b.turn);
}
