import { adapterFor, type EngineCall } from "@farmgate/engines";
import { type Clock, FENCE_MEMORY_MS, formatDuration } from "@farmgate/shared";
import type { Log, Upstreams } from "@farmgate/wire";
import type { CatalogStore } from "../catalog/store.ts";
import type { WorkerEntry } from "../catalog/types.ts";
import type { OrderRight } from "../together/placing-lease.ts";
import { loadCalls } from "./load-calls.ts";
import { forgotten, NO_ORDERS, observed, type OrderBook, ordered, orderFailed, pauseAfter } from "./orders.ts";
import { type OrderAnswer, sendOrder } from "./send-order.ts";

export interface DeskDeps {
  clock: Clock;
  log: Log;
  catalog: CatalogStore;
  upstreams: Pick<Upstreams, "fresh">;
  right: OrderRight;
}

/** One model on one worker: `key` is the `nameKey` that it is wanted under, `model` the worker's own spelling. */
export interface OrderedPair {
  worker: string;
  key: string;
  model: string;
}

/** A copy that was, or is about to be, taken out of memory by order. */
interface Unload extends OrderedPair {
  /** It is being sent; afterwards the next catalogue shows what became of it. */
  sending: boolean;
  /** Milliseconds of `now`. */
  since: number;
}

/** An unload that failed. Times in milliseconds of `now`. */
export interface FailedUnload extends OrderedPair {
  reason: string;
  failures: number;
  retryAt: number;
}

const NOT_TAKEN: OrderAnswer = {
  reason: "it is not there any more",
  status: null,
  done: false,
  refused: false,
  outdated: false,
};

const NOT_OURS: OrderAnswer = { ...NOT_TAKEN, reason: "another gateway orders now", outdated: true };

const MISLED =
  "it has had an order with a number above this gateway's, though no other gateway has the right to order: of another " +
  `farm, or of somebody with its key; it takes orders again ${formatDuration(FENCE_MEMORY_MS)} after the last of those`;

/** Sends orders to load and to unload, and remembers what became of them. Whoever orders asks its books first. */
export class OrderDesk {
  readonly #deps: DeskDeps;
  readonly #stop = new AbortController();
  #book: OrderBook = NO_ORDERS;
  readonly #unloads = new Map<string, Unload>();
  readonly #failedUnloads = new Map<string, FailedUnload>();
  /** Loads of any model are remembered, not of those alone that are kept warm. */
  keepsAll = false;

  constructor(deps: DeskDeps) {
    this.#deps = deps;
  }

  get book(): OrderBook {
    return this.#book;
  }

  get stopped(): boolean {
    return this.#stop.signal.aborted;
  }

  /** Workers that are at an unload, by order or until their next catalogue: they get no other order. */
  get unloading(): ReadonlyMap<string, OrderedPair> {
    return this.#unloads;
  }

  /** Pairs whose last unload failed, also after their pause. */
  get failedUnloads(): Iterable<FailedUnload> {
    return this.#failedUnloads.values();
  }

  /** Why no unload of the pair is to be ordered now, in words that follow its worker's name; null: one may. */
  whyNoUnload(worker: string, key: string): string | null {
    const failed = this.#failedUnloads.get(pairId(worker, key));
    const now = this.#deps.clock.now();
    if (failed === undefined || failed.retryAt <= now) return null;
    return `is not told for ${formatDuration(failed.retryAt - now)}: ${failed.reason}`;
  }

  /** Sends no more orders, and ends those that are being sent. */
  stop(): void {
    this.#stop.abort();
  }

  /** Brings the books up to the catalogue; `wanted`: keys of models that are kept warm. */
  look(wanted: ReadonlySet<string>): void {
    const { catalog, clock, log } = this.#deps;
    const before = this.#book;
    const kept = this.keepsAll ? new Set([...wanted, ...catalog.current.union.keys()]) : wanted;
    this.#book = observed(before, catalog.current, kept, clock.now());
    for (const [id, { phase, worker, model, reason }] of this.#book) {
      const failed = phase === "failed" && before.get(id)?.phase !== "failed";
      if (failed) log.warn({ worker, model, reason }, "a load that was ordered did not last");
    }
    for (const [id, { worker, key }] of this.#failedUnloads) {
      if (this.#entry(worker)?.byKey.has(key) !== true) this.#failedUnloads.delete(id);
    }
    for (const [worker, { sending, since }] of this.#unloads) {
      const entry = this.#entry(worker);
      if (!sending && (entry === undefined || (entry.catalogAt ?? 0) > since)) this.#unloads.delete(worker);
    }
  }

  /** Orders a load. The answer's `reason` is null when the order was taken. */
  async load(pair: OrderedPair): Promise<OrderAnswer> {
    const { worker, key, model } = pair;
    const entry = this.#entry(worker);
    const target = entry?.byKey.get(key);
    if (entry === undefined || target === undefined) return NOT_TAKEN;
    const wasFailed = target.state === "failed";
    this.#book = ordered(this.#book, { worker, key, model, wasFailed }, this.#deps.clock.now());
    const answer = await this.#send(entry, pair, loadCalls(entry.engine, target));
    if (answer.outdated) {
      this.#book = forgotten(this.#book, worker, key);
      return answer;
    }
    if (answer.reason === null || this.stopped) return answer;
    this.#deps.log.warn({ worker, model, reason: answer.reason }, "an order to load a model failed");
    this.#book = orderFailed(this.#book, worker, key, answer.reason, this.#deps.clock.now());
    if (answer.refused) this.#deps.catalog.apply({ type: "refused", worker });
    return answer;
  }

  /** Orders that a copy be taken out of memory: by all the calls that this takes, until one fails. */
  async unload(pair: OrderedPair): Promise<OrderAnswer> {
    const { worker, key, model } = pair;
    const { clock, log } = this.#deps;
    const entry = this.#entry(worker);
    const target = entry?.byKey.get(key);
    if (entry === undefined || entry.engine === null || target === undefined) return NOT_TAKEN;
    const calls = adapterFor(entry.engine).unload(target);
    this.#unloads.set(worker, { ...pair, sending: true, since: clock.now() });
    // It went because it was to go: that is not held against its worker.
    this.#book = forgotten(this.#book, worker, key);
    let answer: OrderAnswer = { ...NOT_TAKEN, reason: "it cannot be told to unload it" };
    try {
      for (const call of calls) {
        answer = await this.#send(entry, pair, [call], false);
        if (answer.reason !== null) break;
      }
    } catch (error) {
      // Else its worker would never get an order again.
      this.#unloads.delete(worker);
      throw error;
    }
    const now = clock.now();
    const id = pairId(worker, key);
    if (answer.reason === null) {
      this.#unloads.set(worker, { ...pair, sending: false, since: now });
      this.#failedUnloads.delete(id);
      return answer;
    }
    this.#unloads.delete(worker);
    if (this.stopped || answer.outdated) return answer;
    log.warn({ worker, model, reason: answer.reason }, "an order to unload a model failed");
    const failures = (this.#failedUnloads.get(id)?.failures ?? 0) + 1;
    this.#failedUnloads.set(id, { ...pair, reason: answer.reason, failures, retryAt: now + pauseAfter(failures) });
    return answer;
  }

  /** The same for who does not wait: `ended` is told why the order failed; null: it was taken. */
  tell(kind: "load" | "unload", pair: OrderedPair, ended: (failed: string | null) => void): void {
    // Nobody waits for what becomes of it: an end that nobody foresaw is told as any other.
    const failed = (error: unknown) => ended(`it failed (${String(error)})`);
    void this[kind](pair).then(({ reason }) => ended(reason), failed);
  }

  async #send(
    entry: WorkerEntry,
    { worker, model }: OrderedPair,
    calls: readonly EngineCall[],
    loads = true,
  ): Promise<OrderAnswer> {
    const { catalog, clock, upstreams, right } = this.#deps;
    if (!right.isHeld) return NOT_OURS;
    const { fence } = right;
    // Not one of the kept connections: a stale one would look like a worker that refuses.
    const upstream = upstreams.fresh(entry.config);
    const sender = { apiKey: entry.config.apiKey, fence: entry.engine === "agent" ? fence : null };
    const answer = await sendOrder(upstream, clock, sender, calls, this.#stop.signal);
    void upstream.pool.destroy();
    // Sent as its holder, it came too late: that is nothing against the worker. Else it is a failure as any other, so that
    // the order goes to the next worker.
    if (answer.outdated && fence !== null && !(await right.isOutdated(fence))) {
      return { ...answer, reason: MISLED, outdated: false };
    }
    // Some engines never tell what they have loaded.
    if (loads && answer.done) catalog.apply({ type: "answered", worker, model, at: clock.now() });
    return answer;
  }

  #entry(worker: string): WorkerEntry | undefined {
    return this.#deps.catalog.current.workers.find(({ config }) => config.name === worker);
  }
}

function pairId(worker: string, key: string): string {
  return `${worker}\n${key}`;
}
