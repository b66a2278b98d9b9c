import type { ModelState } from "@farmgate/shared";
import type { WorkerEntry } from "../../src/catalog/types.ts";
import { decideLoads, type LoadOrder, type PlacementView } from "../../src/placement/decide-loads.ts";
import { LastCopies } from "../../src/placement/last-copies.ts";
import { NO_ORDERS, type OrderBook, ordered } from "../../src/placement/orders.ts";
import { RecentUse } from "../../src/placement/recent-use.ts";
import type { WantedCopies } from "../../src/placement/wanted-copies.ts";
import { Inflight } from "../../src/state/inflight.ts";
import { catalogOf, model, worker, type WorkerSketch } from "../routing/farm.ts";

export interface View extends PlacementView {
  inflight: Inflight;
  recentUse: RecentUse;
}

export function viewOf(workers: readonly WorkerEntry[], orders: OrderBook = NO_ORDERS, now = 1_000): View {
  const recentUse = new RecentUse();
  const lastCopies = new LastCopies(recentUse);
  return { catalog: catalogOf(workers), orders, inflight: new Inflight(), recentUse, lastCopies, now };
}

/** A healthy agent whose models, of 10 bytes each, have these states; a budget of 0 unless told otherwise. */
export function machine(name: string, states: Record<string, ModelState>, more: WorkerSketch = {}): WorkerEntry {
  const models = Object.entries(states).map(([id, state]) => model(id, state, { memoryBytes: 10 }));
  const usedBytes = 10 * models.filter(({ state }) => state === "warm").length;
  return worker(name, { engine: "agent", models, memory: { budgetBytes: 0, usedBytes }, ...more });
}

/** One with room for `fits` models. */
export function roomy(name: string, fits: number, states: Record<string, ModelState>): WorkerEntry {
  const usedBytes = 10 * Object.values(states).filter((state) => state === "warm").length;
  return machine(name, states, { memory: { budgetBytes: 10 * fits, usedBytes } });
}

export function want(copies: Record<string, number>): WantedCopies[] {
  return Object.entries(copies).map(([name, count]) => ({ key: name, name, copies: count }));
}

/** The loads as `worker:model`. */
export function loads(wanted: Record<string, number>, view: PlacementView): string[] {
  return decideLoads(want(wanted), view).map(shown);
}

export function shown({ worker, model }: Pick<LoadOrder, "worker" | "model">): string {
  return `${worker}:${model}`;
}

/** A book with these pending orders, each `worker:model`. */
export function pending(orders: readonly string[], now = 1_000): OrderBook {
  return orders.reduce((book, text) => {
    const [name = "", id = ""] = text.split(":");
    return ordered(book, { worker: name, key: id, model: id, wasFailed: false }, now);
  }, NO_ORDERS);
}
