import type { Clock } from "@farmgate/shared";
import type { Log, Upstreams } from "@farmgate/wire";
import type { CatalogStore } from "../catalog/store.ts";
import type { InflightView } from "../routing/types.ts";
import { decideLoads, type LoadOrder, type PlacementView } from "./decide-loads.ts";
import type { LastCopiesView } from "./last-copies.ts";
import { loadCalls } from "./load-calls.ts";
import { NO_ORDERS, observed, type OrderBook, ordered, orderFailed } from "./orders.ts";
import type { RecentUseView } from "./recent-use.ts";
import { sendOrder } from "./send-order.ts";
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
  upstreams: Pick<Upstreams, "fresh">;
  inflight: InflightView;
  recentUse: RecentUseView;
  lastCopies: LastCopiesView;
}

/** Keeps the wanted warm copies: sends the orders that `decideLoads` decides on, and says where copies are missing. */
export class Keeper {
  readonly #deps: KeeperDeps;
  readonly #stop = new AbortController();
  #asked: readonly WantedCopies[] = [];
  #orders: OrderBook = NO_ORDERS;
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

  /** Sends no more orders, and ends those that are being sent. */
  stop(): void {
    this.#stop.abort();
    this.#unsubscribe();
    this.#cancelTick();
    this.#cancelLook?.();
  }

  /** How the warm copies of a model are. */
  warmth(key: string): Warmth {
    const listed = this.#deps.catalog.current.union.get(key);
    const name = listed?.id ?? this.#wanted.find((want) => want.key === key)?.name ?? key;
    return warmthOf({ key: listed?.key ?? key, name }, this.#wanted, this.#view());
  }

  /** Of every model that is wanted. */
  wantedWarmth(): Warmth[] {
    return this.#wanted.map(({ key }) => this.warmth(key));
  }

  /** Of every model that is listed. */
  listedWarmth(): Warmth[] {
    return [...new Set(this.#deps.catalog.current.union.values())].map(({ key }) => this.warmth(key));
  }

  get #wanted(): readonly WantedCopies[] {
    return meantCopies(this.#asked, this.#deps.catalog.current);
  }

  #view(): PlacementView {
    const { catalog, inflight, recentUse, lastCopies, clock } = this.#deps;
    return { catalog: catalog.current, orders: this.#orders, inflight, recentUse, lastCopies, now: clock.now() };
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
    const { catalog, clock } = this.#deps;
    const wanted = new Set(this.#wanted.map(({ key }) => key));
    const before = this.#orders;
    this.#orders = observed(before, catalog.current, wanted, clock.now());
    for (const [id, { phase, worker, model, reason }] of this.#orders) {
      const failed = phase === "failed" && before.get(id)?.phase !== "failed";
      if (failed) this.#deps.log.warn({ worker, model, reason }, "a load that was ordered did not last");
    }
    for (const load of decideLoads(this.#wanted, this.#view())) void this.#order(load);
  }

  async #order({ worker, key, model, reason }: LoadOrder): Promise<void> {
    const { catalog, clock, log, upstreams } = this.#deps;
    const entry = catalog.current.workers.find(({ config }) => config.name === worker);
    const target = entry?.byKey.get(key);
    if (entry === undefined || target === undefined) return;
    this.#orders = ordered(this.#orders, { worker, key, model, wasFailed: target.state === "failed" }, clock.now());
    log.info({ worker, model, reason }, "ordered a load to keep the model warm");
    // Not one of the kept connections: a stale one would look like a worker that refuses.
    const upstream = upstreams.fresh(entry.config);
    const calls = loadCalls(entry.engine, target);
    const answer = await sendOrder(upstream, clock, entry.config.apiKey, calls, this.#stop.signal);
    void upstream.pool.destroy();
    // Some engines never tell what they have loaded.
    if (answer.done) catalog.apply({ type: "answered", worker, model, at: clock.now() });
    if (answer.reason === null || this.#stop.signal.aborted) return;
    log.warn({ worker, model, reason: answer.reason }, "an order to load a model failed");
    this.#orders = orderFailed(this.#orders, worker, key, answer.reason, clock.now());
    if (answer.refused) catalog.apply({ type: "refused", worker });
    else this.#lookSoon();
  }

  /** Says once where copies are missing, and once when they are there again. */
  #tell(): void {
    const { recentUse, clock, log } = this.#deps;
    const keys = [...this.#wanted.map(({ key }) => key), ...recentUse.inUse(clock.now()), ...this.#told.keys()];
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
