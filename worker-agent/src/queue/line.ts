import { hasRoom, type ModelState } from "./model-state.ts";
import type { Models } from "./models.ts";
import { isGated, type Operation } from "./operation.ts";
import type { Line, WaitingModel } from "./policy.ts";
import type { Candidate, RoomTimes } from "./room-times.ts";

/** A model that somebody waits for, as the steps are decided on. */
export interface Waiter extends Candidate {
  readonly model: ModelState;
  readonly from: number;
  /** Its place among the models (rule R1). */
  readonly since: number;
  /** From when there is room for it, as things stand; infinite while something is under way, or where it is loaded. */
  readonly roomAt: number;
}

const NEVER = Number.POSITIVE_INFINITY;

/** The models that somebody waits for, in the order in which each one's oldest job arrived; `times` null: no loads. */
export function lineOf(models: Models, times: RoomTimes | null): Waiter[] {
  const line: Waiter[] = [];
  for (const model of models.waiting) {
    const { queue, place, turn } = model;
    if (queue.oldest === undefined) continue;
    const { arrivedAt } = queue.oldest;
    const from = place.waitingFrom(arrivedAt);
    const roomAt = turn === null && times !== null ? times.at({ model, from }) : NEVER;
    line.push({ model, from, since: place.since(arrivedAt), roomAt });
  }
  return line;
}

/** What the policy sees of the line. `loads`: a load may be begun by its choice. */
export function policyLine(line: readonly Waiter[], operation: Operation | null, loads: boolean, now: number): Line {
  const stateOf = ({ model, roomAt }: Waiter): WaitingModel["state"] => {
    if (model.turn === null) return loads && roomAt <= now ? "cold" : "blocked";
    return hasRoom(model) && !isGated(operation, model) ? "ready" : "blocked";
  };
  return { waiting: line.map((waiter) => ({ name: waiter.model.name, since: waiter.since, state: stateOf(waiter) })) };
}
