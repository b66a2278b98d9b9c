import { type Candidate, roomAt, type Rooms } from "./admission.ts";
import { hasRoom, type ModelState } from "./model-state.ts";
import type { Models } from "./models.ts";
import { isGated, type Operation } from "./operation.ts";
import type { Line, WaitingModel } from "./policy.ts";

/** A model that somebody waits for, as the steps are decided on. */
export interface Waiter extends WaitingModel, Candidate {
  readonly model: ModelState;
  readonly from: number;
  /** From when there is room for it, as things stand; infinite while something is under way, or where it is loaded. */
  readonly roomAt: number;
}

/** The models that somebody waits for, in the order in which each one's oldest job arrived. */
export function lineOf(at: Rooms & { models: Models; operation: Operation | null }, now: number): Waiter[] {
  const found: (Waiter & { arrivedAt: number; seq: number })[] = [];
  for (const model of at.models.waiting) {
    const { name, queue, place, turn } = model;
    const oldest = queue.oldest;
    if (oldest === undefined) continue;
    const { arrivedAt, seq } = oldest;
    const candidate = { model, from: place.waitingFrom(arrivedAt), wished: false };
    const room = turn === null && at.operation === null ? roomAt(candidate, at) : Number.POSITIVE_INFINITY;
    const ready = turn !== null && !isGated(at.operation, model) && hasRoom(model);
    const state = ready ? "ready" : room <= now ? "cold" : "blocked";
    found.push({ ...candidate, name, since: place.since(arrivedAt), state, roomAt: room, arrivedAt, seq });
  }
  return found.sort((a, b) => a.arrivedAt - b.arrivedAt || a.seq - b.seq);
}

/** What the policy sees; `closed`: nothing may be loaded by its choice. */
export function policyLine(line: readonly Waiter[], closed: boolean): Line {
  return {
    waiting: line.map(({ name, since, state }) => ({
      name,
      since,
      state: closed && state === "cold" ? "blocked" : state,
    })),
  };
}
