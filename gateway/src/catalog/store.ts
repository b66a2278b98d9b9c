import type { Clock } from "@farmgate/shared";
import { emptyCatalog, reduce } from "./reduce.ts";
import type { HealthSettings } from "./reduce-poll.ts";
import type { Catalog, CatalogEvent } from "./types.ts";

/** Told after a change that readers can see. */
export type CatalogListener = (catalog: Catalog, before: Catalog) => void;

/** Told of an event that changed anything, if only what readers do not see. */
export type EventListener = (event: CatalogEvent, after: Catalog, before: Catalog) => void;

/** Holds the catalogue: events in, an immutable value out. */
export class CatalogStore {
  readonly #clock: Pick<Clock, "now">;
  readonly #listeners = new Set<CatalogListener>();
  readonly #eventListeners = new Set<EventListener>();
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

  /** `seen` elsewhere: by another gateway of this farm, which told of it. */
  apply(event: CatalogEvent, seen: "here" | "elsewhere" = "here"): void {
    const before = this.#catalog;
    this.#catalog = reduce(before, event, this.#clock.now(), this.#settings);
    const after = this.#catalog;
    if (after === before) return;
    if (after.version !== before.version) for (const listener of this.#listeners) listener(after, before);
    if (seen === "here") for (const listener of this.#eventListeners) listener(event, after, before);
  }

  /** Calls `listener` after every visible change, until the function that comes back is called. */
  onChange(listener: CatalogListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Calls `listener` after every event that was seen here and changed anything. */
  onSeen(listener: EventListener): void {
    this.#eventListeners.add(listener);
  }
}
