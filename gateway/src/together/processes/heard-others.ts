import type { OthersView } from "../hub.ts";
import type { OfOthers } from "../room/hub-room.ts";
import { Tally } from "../room/tally.ts";

/** What all others have under way, as it was heard last. */
export class HeardOthers implements OthersView {
  #tally = new Tally();
  #callers = new Map<string, number>();

  worker(name: string): number {
    return this.#tally.worker(name);
  }

  pair(name: string, key: string): number {
    return this.#tally.pair(name, key);
  }

  pairs(name: string): ReadonlyMap<string, number> {
    return this.#tally.pairs(name);
  }

  caller(name: string): number {
    return this.#callers.get(name) ?? 0;
  }

  hear({ counts, callers }: OfOthers): void {
    for (const [worker, pairs] of counts) this.#tally.set(worker, pairs);
    for (const [name, count] of callers) {
      if (count > 0) this.#callers.set(name, count);
      else this.#callers.delete(name);
    }
  }

  forget(): void {
    this.#tally = new Tally();
    this.#callers = new Map();
  }
}
