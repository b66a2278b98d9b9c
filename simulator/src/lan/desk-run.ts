import {
  forgotten,
  NO_ORDERS,
  observed,
  type OrderBook,
  ordered,
  type OrderedPair,
  type PlacementDesk,
  type TrackedCatalog,
} from "@farmgate/gateway/policies";
import type { Clock } from "@farmgate/shared";

export interface DeskRunDeps {
  clock: Pick<Clock, "now">;
  catalog: { readonly current: TrackedCatalog };
  /** The worker is told. */
  give: (kind: "load" | "unload", worker: string, model: string) => void;
}

/** The gateway's books of orders in virtual time. A worker takes every order, at once. */
export class DeskRun implements PlacementDesk {
  readonly stopped = false;
  keepsAll = false;
  book: OrderBook = NO_ORDERS;
  readonly #deps: DeskRunDeps;
  readonly #unloads = new Map<string, OrderedPair & { since: number }>();

  constructor(deps: DeskRunDeps) {
    this.#deps = deps;
  }

  get unloading(): ReadonlyMap<string, OrderedPair> {
    return this.#unloads;
  }

  whyNoUnload(): null {
    return null;
  }

  /** Brings the books up to the catalogue; `wanted`: keys of models that are kept warm. */
  look(wanted: readonly string[]): void {
    const { clock, catalog } = this.#deps;
    const { current } = catalog;
    const kept = new Set(this.keepsAll ? [...wanted, ...current.union.keys()] : wanted);
    this.book = observed(this.book, current, kept, clock.now());
    for (const [worker, { since }] of this.#unloads) {
      const entry = current.workers.find(({ config }) => config.name === worker);
      if (entry === undefined || (entry.catalogAt ?? 0) > since) this.#unloads.delete(worker);
    }
  }

  tell(kind: "load" | "unload", pair: OrderedPair, ended: (failed: string | null) => void): void {
    const { clock, catalog, give } = this.#deps;
    const { worker, key, model } = pair;
    const now = clock.now();
    if (kind === "load") {
      const entry = catalog.current.workers.find(({ config }) => config.name === worker);
      const wasFailed = entry?.byKey.get(key)?.state === "failed";
      this.book = ordered(this.book, { worker, key, model, wasFailed }, now);
    } else {
      this.#unloads.set(worker, { ...pair, since: now });
      this.book = forgotten(this.book, worker, key);
    }
    give(kind, worker, model);
    ended(null);
  }
}
