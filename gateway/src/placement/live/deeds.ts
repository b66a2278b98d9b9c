import type { Clock } from "@farmgate/shared";
import type { CatalogStore } from "../../catalog/store.ts";
import type { OrderDesk, OrderedPair } from "../order-desk.ts";
import { orderFor } from "../orders.ts";
import type { PoolAction } from "../pools/types.ts";
import type { OrderAnswer } from "../send-order.ts";
import { hasWarmCopy } from "../usable.ts";
import { replicaId } from "./farm-bins.ts";
import type { Guarded } from "./guard-actions.ts";

export interface DeedsDeps {
  clock: Clock;
  catalog: CatalogStore;
  desk: OrderDesk;
  /** Whether the copy may go now that the one that replaces it is there. */
  mayGo(pair: OrderedPair): boolean;
  count(kind: string, result: string): void;
}

/** One order and what became of it. */
export interface Deed {
  /** Milliseconds of `now`. */
  at: number;
  kind: "load" | "unload";
  worker: string;
  model: string;
  /** null: it was taken; else why it was not. */
  failed: string | null;
}

/** A copy that goes once the one that replaces it is loaded. */
interface Move {
  load: OrderedPair;
  old: OrderedPair;
  since: number;
}

/** Deeds that are remembered. */
const KEPT = 20;
/** A move whose new copy is not there after so long is none any more, in milliseconds. */
const MOVE_MS = 600_000;

/** Gives the orders of plans, and remembers the last of them. */
export class Deeds {
  readonly #deps: DeedsDeps;
  #last: readonly Deed[] = [];
  #moves: readonly Move[] = [];

  constructor(deps: DeedsDeps) {
    this.#deps = deps;
  }

  /** The newest first. */
  get last(): readonly Deed[] {
    return this.#last;
  }

  /** Whether the model of the action is on a move: until that is over nothing else is to be done with it. */
  isMoving(action: PoolAction): boolean {
    return this.#moves.some(({ load, old }) => {
      if (action.kind === "activate") return action.model === load.key;
      return [replicaId(old.worker, old.key), replicaId(load.worker, load.key)].includes(action.replica);
    });
  }

  /** By the id of a replica that is moved to: the one that it replaces. */
  get replacing(): ReadonlyMap<string, string> {
    return new Map(
      this.#moves.map(({ load, old }) => [replicaId(load.worker, load.key), replicaId(old.worker, old.key)]),
    );
  }

  /** Moves that were begun are left as they are: what is loaded stays. */
  endMoves(): void {
    this.#moves = [];
  }

  order(guarded: Guarded): void {
    switch (guarded.order) {
      case "load":
        void this.#load(guarded.load, guarded.after);
        break;
      case "unload":
        void this.#unload(guarded.unload);
        break;
      case "move":
        this.#moves = [...this.#moves, { load: guarded.load, old: guarded.old, since: this.#deps.clock.now() }];
        void this.#load(guarded.load, null);
        break;
      case "none":
        break;
    }
  }

  /**
   * Brings moves on: 1. the new copy is loaded: the old one goes as soon as it may, and 1a. where it went by itself, or its
   * worker did, nothing is left to do; 2. its load failed, or took too long: all stays as it was.
   */
  look(): void {
    if (this.#moves.length === 0) return;
    const { catalog, clock, desk } = this.#deps;
    const now = clock.now();
    this.#moves = this.#moves.filter(({ load, old, since }) => {
      const isLoaded = ({ worker, key }: OrderedPair) =>
        catalog.current.workers.some((entry) => entry.config.name === worker && hasWarmCopy(entry, key, now));
      // 1
      if (isLoaded(load)) {
        // 1a
        if (!isLoaded(old)) return false;
        if (!this.#deps.mayGo(old)) return now - since < MOVE_MS;
        void this.#unload(old);
        return false;
      }
      // 2
      const order = orderFor(desk.book, load.worker, load.key);
      return order !== undefined && order.phase !== "failed" && now - since < MOVE_MS;
    });
  }

  async #load(pair: OrderedPair, after: OrderedPair | null): Promise<void> {
    if (after !== null && !(await this.#unload(after))) return;
    this.#note("load", pair, await reasonOf(this.#deps.desk.load(pair)));
  }

  async #unload(pair: OrderedPair): Promise<boolean> {
    const reason = await reasonOf(this.#deps.desk.unload(pair));
    this.#note("unload", pair, reason);
    return reason === null;
  }

  #note(kind: Deed["kind"], { worker, model }: OrderedPair, failed: string | null): void {
    const { clock, desk } = this.#deps;
    if (desk.stopped) return;
    this.#deps.count(kind, failed === null ? "taken" : "failed");
    this.#last = [{ at: clock.now(), kind, worker, model, failed }, ...this.#last].slice(0, KEPT);
  }
}

/** Why the order was not taken; null: it was. Never rejects: nobody waits for what becomes of an order. */
function reasonOf(answer: Promise<OrderAnswer>): Promise<string | null> {
  return answer.then(
    ({ reason }) => reason,
    (error: unknown) => `it failed (${String(error)})`,
  );
}
