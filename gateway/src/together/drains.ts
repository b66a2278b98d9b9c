import type { Clock } from "@farmgate/shared";
import type { CatalogStore } from "../catalog/store.ts";
import { type DrainBook, NO_NOTES, noteOf, withNote } from "./drain-book.ts";
import type { Hub } from "./hub.ts";
import type { DrainNote } from "./news.ts";

export interface DrainsDeps {
  clock: Pick<Clock, "wall">;
  hub: Pick<Hub, "tell">;
  catalog: CatalogStore;
}

/** An operator's word on workers, which holds at all gateways whichever it was given to. */
export class Drains {
  readonly #deps: DrainsDeps;
  #book: DrainBook = NO_NOTES;

  constructor(deps: DrainsDeps) {
    this.#deps = deps;
    // A worker that comes to be known was drained by its name.
    deps.catalog.onSeen(({ type }) => {
      if (type === "configured") for (const note of this.notes()) if (note.draining) this.#apply(note);
    });
  }

  /** All that is known, for who has missed it. */
  notes(): readonly DrainNote[] {
    return [...this.#book.values()];
  }

  /** The operator's word, given here. */
  order(worker: string, draining: boolean): void {
    const { clock, hub } = this.#deps;
    const note = noteOf(this.#book, worker, draining, clock.wall());
    this.#book = withNote(this.#book, note);
    this.#apply(note);
    hub.tell({ kind: "drain", note });
  }

  /** The same, given elsewhere; what is older than the last word changes nothing. Whether it did. */
  take(note: DrainNote): boolean {
    const before = this.#book;
    this.#book = withNote(before, note);
    if (this.#book === before) return false;
    this.#apply(note);
    return before.get(note.worker)?.draining !== note.draining;
  }

  #apply({ worker, draining }: DrainNote): void {
    this.#deps.catalog.apply({ type: draining ? "drain" : "resume", worker });
  }
}
