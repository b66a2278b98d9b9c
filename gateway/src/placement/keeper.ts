import type { Clock } from "@farmgate/shared";
import type { Log } from "@farmgate/wire";
import type { CatalogStore } from "../catalog/store.ts";
import type { InflightView } from "../routing/types.ts";
import type { OrderRight } from "../together/placing-lease.ts";
import { decideLoads, type LoadOrder, type PlacementView } from "./decide-loads.ts";
import type { LastCopiesView } from "./last-copies.ts";
import type { OrderDesk } from "./order-desk.ts";
import type { RecentUseView } from "./recent-use.ts";
import { meantCopies, type WantedCopies } from "./wanted-copies.ts";
import { type Warmth, warmthOf } from "./warmth-notes.ts";

/** Changes of the catalogue that come together are looked at together, in milliseconds. */
const GATHER_MS = 20;
/** Between two looks that no change asks for, in milliseconds: pauses end, and models go out of use. */
const TICK_MS = 2_000;

export interface KeeperDeps {
  clock: Clock;
  log: Log;
  catalog: CatalogStore;
  desk: OrderDesk;
  inflight: InflightView;
  recentUse: RecentUseView;
  lastCopies: LastCopiesView;
  right: Pick<OrderRight, "isHeld">;
}

/** Keeps the wanted warm copies: sends the orders that `decideLoads` decides on, and says where copies are missing. */
export class Keeper {
  readonly #deps: KeeperDeps;
  readonly #stop = new AbortController();
  #asked: readonly WantedCopies[] = [];
  #told = new Map<string, NonNullable<Warmth["trouble"]>>();
  #started = false;
  #cancelLook: (() => void) | null = null;
  #cancelTick = (): void => {};
  #unsubscribe = (): void => {};

  constructor(deps: KeeperDeps) {
    this.#deps = deps;
  }

  /** From now on. Orders under way and what is known of failed ones are kept. */
  configure(wanted: readonly WantedCopies[]): void {
    this.#asked = wanted;
    if (this.#started) this.#lookSoon();
  }

  /** Begins to order: once the first catalogues are there, or else what is loaded already would be ordered too. */
  start(): void {
    if (this.#started || this.#stop.signal.aborted) return;
    this.#started = true;
    this.#unsubscribe = this.#deps.catalog.onChange(() => this.#lookSoon());
    this.#look();
    this.#tickSoon();
  }

  /** The right to order was won or lost. */
  look(): void {
    if (this.#started) this.#lookSoon();
  }

  /** Sends no more orders, and ends those that are being sent. */
  stop(): void {
    this.#stop.abort();
    this.#deps.desk.stop();
    this.#unsubscribe();
    this.#cancelTick();
    this.#cancelLook?.();
  }

  /** How the warm copies of a model are. */
  warmth(key: string): Warmth {
    const listed = this.#deps.catalog.current.union.get(key);
    const name = listed?.id ?? this.wanted.find((want) => want.key === key)?.name ?? key;
    return warmthOf({ key: listed?.key ?? key, name }, this.wanted, this.view());
  }

  /** Of every model that is wanted. */
  wantedWarmth(): Warmth[] {
    return this.wanted.map(({ key }) => this.warmth(key));
  }

  /** As they are meant now: an alias of workers by the model that it stands for. */
  get wanted(): readonly WantedCopies[] {
    return meantCopies(this.#asked, this.#deps.catalog.current);
  }

  /** Of every model that is listed. */
  listedWarmth(): Warmth[] {
    return [...new Set(this.#deps.catalog.current.union.values())].map(({ key }) => this.warmth(key));
  }

  /** What loads are decided on now. */
  view(): PlacementView {
    const { catalog, desk, inflight, recentUse, lastCopies, clock } = this.#deps;
    const { book: orders, unloading } = desk;
    return { catalog: catalog.current, orders, unloading, inflight, recentUse, lastCopies, now: clock.now() };
  }

  #lookSoon(): void {
    if (this.#stop.signal.aborted) return;
    this.#cancelLook ??= this.#deps.clock.after(GATHER_MS, () => this.#look());
  }

  #tickSoon(): void {
    this.#cancelTick = this.#deps.clock.after(TICK_MS, () => {
      this.#look();
      this.#tell();
      this.#tickSoon();
    });
  }

  #look(): void {
    this.#cancelLook?.();
    this.#cancelLook = null;
    this.#deps.desk.look(new Set(this.wanted.map(({ key }) => key)));
    if (!this.#deps.right.isHeld) return;
    for (const load of decideLoads(this.wanted, this.view())) void this.#order(load);
  }

  async #order({ reason, ...pair }: LoadOrder): Promise<void> {
    const { desk, log } = this.#deps;
    log.info({ worker: pair.worker, model: pair.model, reason }, "ordered a load to keep the model warm");
    const answer = await desk.load(pair);
    if (answer.reason !== null && !answer.refused) this.#lookSoon();
  }

  /** Says once where copies are missing, and once when they are there again. */
  #tell(): void {
    const { recentUse, clock, log } = this.#deps;
    const keys = [...this.wanted.map(({ key }) => key), ...recentUse.inUse(clock.now()), ...this.#told.keys()];
    for (const key of new Set(keys)) {
      const { name: model, trouble, note, copies } = this.warmth(key);
      const before = this.#told.get(key) ?? null;
      if (trouble === before) continue;
      if (trouble !== null) {
        this.#told.set(key, trouble);
        log.warn({ model }, `${model}: ${note}`);
      } else if (copies !== 0 || before === "unmet" || !recentUse.isInUse(key, clock.now())) {
        this.#told.delete(key);
        log.info({ model }, `${model}: no copy is missing any more (${copies} warm)`);
      }
    }
  }
}
