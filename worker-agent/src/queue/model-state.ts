import { FailureBudget } from "./failure-budget.ts";
import { ModelQueue } from "./model-queue.ts";
import { Place } from "./place.ts";
import type { SchedulerRules } from "./types.ts";

/** All that the scheduler keeps of one model. */
export interface ModelState {
  readonly name: string;
  readonly slots: number;
  readonly queue: ModelQueue;
  readonly place: Place;
  readonly failures: FailureBudget;
  /** Requests granted and not yet done; `load` jobs take no slot and are not among them. */
  running: number;
}

/** A model with somebody waiting, as the turns are decided on. */
export interface Waiter {
  readonly name: string;
  readonly since: number;
  /** From when it waits, as far as being due goes. */
  readonly from: number;
}

export function createModels(rules: SchedulerRules): Map<string, ModelState> {
  const models = new Map<string, ModelState>();
  for (const { name, slots } of rules.models) {
    models.set(name, {
      name,
      slots,
      queue: new ModelQueue(rules.maxWait),
      place: new Place(rules.maxWait),
      failures: new FailureBudget(rules),
      running: 0,
    });
  }
  return models;
}

/** The models that somebody waits for, in the order in which each one's oldest job arrived. */
export function waiters(models: Iterable<ModelState>): Waiter[] {
  const found: (Waiter & { arrivedAt: number; seq: number })[] = [];
  for (const { name, queue, place } of models) {
    const oldest = queue.oldest;
    if (oldest === undefined) continue;
    const { arrivedAt, seq } = oldest;
    found.push({ name, since: place.since(arrivedAt), from: place.waitingFrom(arrivedAt), arrivedAt, seq });
  }
  return found.sort((a, b) => a.arrivedAt - b.arrivedAt || a.seq - b.seq);
}
