import type { OwnCounts } from "../hub.ts";
import type { OfOthers } from "../room/hub-room.ts";

const NO_PAIRS: ReadonlyMap<string, number> = new Map();

/** What of a member's own counts the room is not told yet. */
export class OwnReport {
  readonly #own: OwnCounts;
  readonly #changed = new Set<string>();
  #toldCallers: ReadonlyMap<string, number> = new Map();

  constructor(own: OwnCounts) {
    this.#own = own;
  }

  changed(worker: string): void {
    this.#changed.add(worker);
  }

  /** All there is. */
  whole(): OfOthers {
    this.#changed.clear();
    this.#toldCallers = new Map(this.#own.callers());
    return { counts: this.#own.counts(), callers: this.#toldCallers };
  }

  /** What changed since this, or `whole`, was asked last. */
  take(): OfOthers {
    const all = this.#own.counts();
    const counts = new Map(Array.from(this.#changed, (worker) => [worker, all.get(worker) ?? NO_PAIRS]));
    this.#changed.clear();
    const now = new Map(this.#own.callers());
    const before = this.#toldCallers;
    const callers = new Map<string, number>();
    for (const [name, count] of now) if (before.get(name) !== count) callers.set(name, count);
    for (const name of before.keys()) if (!now.has(name)) callers.set(name, 0);
    this.#toldCallers = now;
    return { counts, callers };
  }
}
