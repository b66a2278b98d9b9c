import { byArrival, type Waiting } from "./model-queue.ts";
import { SortedList } from "./sorted-list.ts";

/**
 * Who has which of the queue's places (rule R9): each (model, caller) keeps as many for itself as the model has slots,
 * so that one burst cannot fill the queue for all.
 */
export class Room {
  readonly #pairs = new Map<string, SortedList<Waiting>>();

  add(entry: Waiting): void {
    const key = pairOf(entry);
    const pair = this.#pairs.get(key) ?? new SortedList(byArrival);
    pair.insert(entry);
    this.#pairs.set(key, pair);
  }

  remove(entry: Waiting): void {
    const key = pairOf(entry);
    const pair = this.#pairs.get(key);
    pair?.remove(entry);
    if (pair?.size === 0) this.#pairs.delete(key);
  }

  /**
   * Who has to go when a newcomer, already added, is one too many:
   * 1. the newcomer, when its own pair has more than its slots already;
   * 2. else the newest job of the pair with the most jobs, when that has more than its slots;
   * 3. else the newcomer: everybody has only what is theirs.
   */
  oneTooMany(newcomer: Waiting, slotsOf: (model: string) => number): Waiting {
    const own = this.#pairs.get(pairOf(newcomer))?.size ?? 0;
    if (own > slotsOf(newcomer.job.model)) return newcomer; // (1)
    let most = 0;
    let victim = newcomer; // (3)
    for (const pair of this.#pairs.values()) {
      const newest = pair.last;
      if (newest === undefined || pair.size <= most || pair.size <= slotsOf(newest.job.model)) continue;
      most = pair.size;
      victim = newest; // (2)
    }
    return victim;
  }
}

function pairOf({ job }: Waiting): string {
  return `${job.model}\n${job.caller}`;
}
