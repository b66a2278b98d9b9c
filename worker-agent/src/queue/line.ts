import type { Waiting } from "./model-queue.ts";
import { hasRoom, type ModelState } from "./model-state.ts";
import { isGated, type Operation } from "./operation.ts";
import type { WaitingModel } from "./policy.ts";
import type { Candidate, RoomTimes } from "./room-times.ts";

/** A model that somebody waits for, as the steps are decided on. */
export interface Waiter extends WaitingModel, Candidate {
  readonly model: ModelState;
  readonly oldest: Waiting;
  readonly from: number;
  /** As the last look at the line found it, as is `roomAt`. */
  state: WaitingModel["state"];
  /** From when there is room for it, as things stand; infinite where that was not looked for. */
  roomAt: number;
}

export function waiterOf(model: ModelState, oldest: Waiting): Waiter {
  const { name, place } = model;
  const [from, since] = [place.waitingFrom(oldest.arrivedAt), place.since(oldest.arrivedAt)];
  return { model, name, oldest, from, since, state: "blocked", roomAt: Number.POSITIVE_INFINITY };
}

/** Looks which loaded models are ready; room for the others is not looked for yet. */
export function findReady(line: readonly Waiter[], operation: Operation | null): void {
  for (const waiter of line) {
    const { model } = waiter;
    waiter.state = model.turn !== null && hasRoom(model) && !isGated(operation, model) ? "ready" : "blocked";
    waiter.roomAt = Number.POSITIVE_INFINITY;
  }
}

/** Looks for room for these, of which none is loaded. */
export function findRoom(cold: readonly Waiter[], times: RoomTimes, now: number): void {
  for (const waiter of cold) {
    waiter.roomAt = times.at(waiter);
    if (waiter.roomAt <= now) waiter.state = "cold";
  }
}
