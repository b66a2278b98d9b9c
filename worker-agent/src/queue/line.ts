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
  readonly arrivedAt: number;
  readonly seq: number;
}

const NEVER = Number.POSITIVE_INFINITY;

/** The models that somebody waits for, in the order in which each one's oldest job arrived. */
export function lineOf(at: Rooms & { models: Models; operation: Operation | null }, now: number): Waiter[] {
  const found: Waiter[] = [];
  for (const model of at.models.waiting) {
    const { name, queue, place } = model;
    const oldest = queue.oldest;
    if (oldest === undefined) continue;
    const { arrivedAt, seq } = oldest;
    const from = place.waitingFrom(arrivedAt);
    const room = model.turn === null && at.operation === null ? roomAt({ model, from, wished: false }, at) : NEVER;
    const since = place.since(arrivedAt);
    found.push({
      model,
      name,
      from,
      since,
      wished: false,
      roomAt: room,
      state: stateOf(model, room, at, now),
      arrivedAt,
      seq,
    });
  }
  return found.sort((a, b) => a.arrivedAt - b.arrivedAt || a.seq - b.seq);
}

function stateOf(model: ModelState, room: number, { operation }: { operation: Operation | null }, now: number) {
  if (model.turn === null) return room <= now ? "cold" : "blocked";
  return hasRoom(model) && !isGated(operation, model) ? "ready" : "blocked";
}

/** What the policy sees while nothing may be loaded by its choice. */
export function withoutLoads(line: readonly Waiter[]): Line {
  return {
    waiting: line.map(({ name, since, state }) => ({ name, since, state: state === "cold" ? "blocked" : state })),
  };
}
