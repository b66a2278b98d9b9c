/** A job that waits. One unit of `processing` is a millisecond on a machine of slowness 1; `deadline` in milliseconds. */
export interface Job {
  readonly processing: number;
  readonly deadline: number;
}

/** A machine that serves one job at a time. Times in milliseconds, on the clock of the deadlines. */
export interface Machine {
  /** When it can begin. */
  readonly availableAt: number;
  /** What each job takes there whatever its length. */
  readonly overhead: number;
  /** How long a unit of a job's processing takes there. */
  readonly slowness: number;
}

/** The order in which jobs wait: the tightest first, of equal ones the shorter. */
export function byDeadline(a: Job, b: Job): number {
  return a.deadline - b.deadline || a.processing - b.processing;
}

/** How long the machine takes for the job, in milliseconds. */
export function timeAt(machine: Machine, job: Job): number {
  return machine.overhead + job.processing * machine.slowness;
}

/**
 * The rule of Moore and Hodgson (1968): of jobs that are all there, the most that one machine can finish in time.
 *
 * 1. Jobs are added in order of due date.
 * 2. When the one just added is late, the longest of those kept is dropped; of equal ones the latest due.
 *
 * What is left is on time when it is served in order of due date, and no more can be. O(n log n). One object serves
 * many calls and allocates only while it grows.
 */
export class MooreHodgson {
  /** By position in `waiting`, after `keep`: 1 is kept. What is neither kept nor passed over is late. */
  kept = new Uint8Array(0);
  /** The position of the first that is kept, the one to serve first; -1: none is. */
  first = -1;
  #lengths = new Float64Array(0);
  /** Positions of what is kept; a heap by length, the longest first, once something was late. */
  #heap = new Int32Array(0);
  #size = 0;

  /**
   * How many are kept. `waiting` in the order `byDeadline`; its jobs with a mark in `passedOver` do not count.
   * Jobs of one machine have lengths in the order of their processing, whatever its overhead and slowness.
   */
  keep(waiting: readonly Job[], machine: Machine, passedOver: Uint8Array | null = null): number {
    const count = waiting.length;
    this.#grow(count);
    const { kept } = this;
    kept.fill(0, 0, count);
    this.#size = 0;
    let isHeap = false;
    let endsAt = machine.availableAt;
    // 1
    for (let position = 0; position < count; position++) {
      if (passedOver !== null && passedOver[position] === 1) continue;
      const job = waiting[position] as Job;
      const length = timeAt(machine, job);
      this.#lengths[position] = length;
      kept[position] = 1;
      endsAt += length;
      this.#heap[this.#size++] = position;
      if (isHeap) this.#rise(this.#size - 1);
      if (endsAt <= job.deadline) continue;
      // 2
      if (!isHeap) this.#order();
      isHeap = true;
      const longest = this.#heap[0] as number;
      kept[longest] = 0;
      endsAt -= this.#lengths[longest] as number;
      this.#heap[0] = this.#heap[--this.#size] as number;
      this.#sink(0);
    }
    this.first = this.#size === 0 ? -1 : kept.indexOf(1);
    return this.#size;
  }

  #grow(count: number): void {
    if (this.kept.length >= count) return;
    const room = Math.max(64, 2 * count);
    this.kept = new Uint8Array(room);
    this.#lengths = new Float64Array(room);
    this.#heap = new Int32Array(room);
  }

  #order(): void {
    for (let place = (this.#size >> 1) - 1; place >= 0; place--) this.#sink(place);
  }

  #goesFirst(a: number, b: number): boolean {
    const difference = (this.#lengths[a] as number) - (this.#lengths[b] as number);
    return difference > 0 || (difference === 0 && a > b);
  }

  #rise(from: number): void {
    const heap = this.#heap;
    const position = heap[from] as number;
    let place = from;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!this.#goesFirst(position, heap[parent] as number)) break;
      heap[place] = heap[parent] as number;
      place = parent;
    }
    heap[place] = position;
  }

  #sink(from: number): void {
    const heap = this.#heap;
    const size = this.#size;
    const position = heap[from] as number;
    let place = from;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= size) break;
      if (child + 1 < size && this.#goesFirst(heap[child + 1] as number, heap[child] as number)) child += 1;
      if (!this.#goesFirst(heap[child] as number, position)) break;
      heap[place] = heap[child] as number;
      place = child;
    }
    heap[place] = position;
  }
}
