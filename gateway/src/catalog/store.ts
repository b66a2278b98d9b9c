import type { Clock } from "@farmgate/shared";
import { emptyCatalog, reduce } from "./reduce.ts";
import type { HealthSettings } from "./reduce-poll.ts";
import type { Catalog, CatalogEvent } from "./types.ts";

/** Told after a change that readers can see. */
export type CatalogListener = (catalog: Catalog, before: Catalog) => void;

/** Holds the catalogue: events in, an immutable value out. */
export class CatalogStore {
  readonly #clock: Pick<Clock, "now">;
  readonly #listeners = new Set<CatalogListener>();
  #settings: HealthSettings;
  #catalog = emptyCatalog();

  constructor(clock: Pick<Clock, "now">, settings: HealthSettings) {
    this.#clock = clock;
    this.#settings = settings;
  }

  get current(): Catalog {
    return this.#catalog;
  }

  /** From the next event on. */
  configure(settings: HealthSettings): void {
    this.#settings = settings;
  }

  apply(event: CatalogEvent): void {
    const before = this.#catalog;
    this.#catalog = reduce(before, event, this.#clock.now(), this.#settings);
    if (this.#catalog.version === before.version) return;
    for (const listener of this.#listeners) listener(this.#catalog, before);
  }

  /** Calls `listener` after every visible change, until the function that comes back is called. */
  onChange(listener: CatalogListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
