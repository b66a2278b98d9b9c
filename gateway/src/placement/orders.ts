import type { Catalog, WorkerEntry } from "../catalog/types.ts";

/** A load that a worker was told of, and what is remembered of it. Times in milliseconds of `now`. */
export interface Order {
  worker: string;
  /** `nameKey` under which the copies are wanted. */
  key: string;
  /** The worker's own spelling. */
  model: string;
  /** pending: until the catalogue shows it warm. held: it stands. failed: not to be ordered again before `retryAt`. */
  phase: "pending" | "held" | "failed";
  /** When this phase began. */
  since: number;
  /** The catalogue has shown it on its way. */
  seenLoading: boolean;
  /** Its last load had failed when it was ordered, so that the catalogue's word for that is no news. */
  wasFailed: boolean;
  /** In a row. */
  failures: number;
  retryAt: number;
  /** Why it failed the last time; null: it did not. */
  reason: string | null;
}

/** All orders by worker and model. An immutable value. */
export type OrderBook = ReadonlyMap<string, Order>;

export const NO_ORDERS: OrderBook = new Map();

/** A load that is neither done nor failed after this time is given up, in milliseconds. */
const GIVE_UP_MS = 600_000;
/** Until the next order after the first that failed, and at most, in milliseconds: it doubles each time. */
const FIRST_PAUSE_MS = 10_000;
const LONGEST_PAUSE_MS = 600_000;
/** A copy that stood as long is no longer held against its worker when it goes, in milliseconds. */
const STANDS_MS = 600_000;

/** The order for the pair, if there is one. */
export function orderFor(book: OrderBook, worker: string, key: string): Order | undefined {
  return book.get(`${worker}\n${key}`);
}

/** The load was ordered; earlier failures of the pair still count. */
export function ordered(
  book: OrderBook,
  order: Pick<Order, "worker" | "key" | "model" | "wasFailed">,
  now: number,
): OrderBook {
  const last = orderFor(book, order.worker, order.key);
  const { failures = 0, reason = null } = last ?? {};
  return withOrder(book, { ...order, phase: "pending", since: now, seenLoading: false, failures, retryAt: 0, reason });
}

/** The pending order of the pair failed: the next one after a pause that doubles each time. */
export function orderFailed(book: OrderBook, worker: string, key: string, reason: string, now: number): OrderBook {
  const order = orderFor(book, worker, key);
  return order?.phase === "pending" ? withOrder(book, failed(order, reason, now)) : book;
}

/**
 * The book after a look at the catalogue; the very same value when nothing changed.
 *
 * 1. What is not wanted any more, or not on offer, is forgotten.
 * 2. Pending: 2a. its worker was lost, which may be the load's own doing: failed. 2b. Draining: forgotten. 2c. Warm:
 *    held. 2d. It was on its way and is not any more, or its load is said to have failed: failed. 2e. Too long: failed.
 * 3. Held: 3a. its worker is out: forgotten, the model did nothing wrong. 3b. It is gone from memory again: failed, so
 *    that two who want one place do not take it from each other without end. 3c. It stood long enough: forgotten.
 * 4. Failed, and the pause is long over: forgotten.
 */
export function observed(book: OrderBook, catalog: Catalog, wanted: ReadonlySet<string>, now: number): OrderBook {
  if (book.size === 0) return book;
  const next = new Map<string, Order>();
  let changed = false;
  for (const [id, order] of book) {
    const entry = catalog.workers.find(({ config }) => config.name === order.worker);
    // 1
    const after = entry === undefined || !wanted.has(order.key) ? null : afterLook(order, entry, now);
    if (after !== null) next.set(id, after);
    if (after !== order) changed = true;
  }
  return changed ? next : book;
}

function afterLook(order: Order, entry: WorkerEntry, now: number): Order | null {
  const model = entry.byKey.get(order.key);
  if (model === undefined) return null;
  switch (order.phase) {
    case "pending": {
      // 2a
      if (entry.refused || entry.health !== "healthy") return failed(order, "the worker was lost", now);
      // 2b
      if (entry.draining) return null;
      // 2c
      if (model.state === "warm") return { ...order, phase: "held", since: now };
      if (model.state === "loading" && !order.seenLoading) return { ...order, seenLoading: true };
      // 2d
      const saysFailed = model.state === "failed" && !order.wasFailed;
      if (saysFailed || (order.seenLoading && model.state !== "loading")) return failed(order, "the load failed", now);
      if (order.wasFailed && model.state !== "failed") return { ...order, wasFailed: false };
      // 2e
      return now - order.since >= GIVE_UP_MS ? failed(order, "it was not loaded in time", now) : order;
    }
    case "held":
      // 3a
      if (entry.refused || entry.draining || entry.health !== "healthy") return null;
      // 3b
      if (model.state !== "warm") return failed(order, "it was taken out of memory again", now);
      // 3c
      return now - order.since >= STANDS_MS ? null : order;
    case "failed":
      // 4
      return now - order.retryAt >= LONGEST_PAUSE_MS ? null : order;
  }
}

function failed(order: Order, reason: string, now: number): Order {
  const failures = order.failures + 1;
  return { ...order, phase: "failed", since: now, failures, retryAt: now + pauseAfter(failures), reason };
}

/** How long a worker gets no order of a kind that failed so often in a row, in milliseconds. */
export function pauseAfter(failures: number): number {
  return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1));
}

/** The book without what it knows of the pair. */
export function forgotten(book: OrderBook, worker: string, key: string): OrderBook {
  if (orderFor(book, worker, key) === undefined) return book;
  const next = new Map(book);
  next.delete(`${worker}\n${key}`);
  return next;
}

function withOrder(book: OrderBook, order: Order): OrderBook {
  return new Map(book).set(`${order.worker}\n${order.key}`, order);
}
