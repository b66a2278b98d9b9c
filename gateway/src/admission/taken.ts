import type { Farm } from "../farm.ts";
import type { Call } from "../proxy/call.ts";
import { hasFreeSlot } from "../routing/capacity.ts";
import type { Choice, Decision, RoutingRequest } from "../routing/types.ts";
import { takeKeyUnclaimed } from "./key-place.ts";
import { beginTrial } from "./trial.ts";

/** A worker taken for one request: its place is counted until `release`. */
export interface Taken {
  choice: Choice;
  release(): void;
}

/** No worker can be asked (any more). */
export type Nothing = Extract<Decision, { kind: "none" }>;

export function isTaken(taken: Taken | Nothing): taken is Taken {
  return "choice" in taken;
}

/** A place that the hub counts already. */
export interface ClaimedPlace {
  /** The worker whose turn was taken when the claim was made; null: nobody's was. */
  turnOf: string | null;
}

/** Counts a place at that worker for the request; `claimed` null: no claim was needed for it. */
export function take(
  farm: Farm,
  call: Call,
  request: RoutingRequest,
  choice: Choice,
  claimed: ClaimedPlace | null = null,
): Taken {
  const { name } = choice.worker.config;
  // One that waited was weighed when it began to.
  call.weighed = choice.weighed ?? call.weighed;
  if (farm.config.routing.waitOrSwap) {
    const { worker, model } = choice;
    call.foundSlot = !model?.queued && hasFreeSlot(worker, model, farm.inflight.worker(name), request, farm);
  }
  if (claimed?.turnOf !== name) farm.turns.picked(name, request.key, choice.turnWeight);
  if (claimed === null && farm.hub.isShared) takeKeyUnclaimed(farm, call);
  const leave = farm.inflight.enter(name, request.key, claimed !== null);
  call.place = name;
  const endTrial = beginTrial(farm, choice);
  const release = () => {
    leave();
    call.place = null;
    endTrial?.();
    wakeWaiting(farm);
  };
  return { choice, release };
}

/** Places may have become free. */
export function wakeWaiting({ waitingRoom, deadlineQueue }: Farm): void {
  waitingRoom.wake();
  deadlineQueue.wake();
}
