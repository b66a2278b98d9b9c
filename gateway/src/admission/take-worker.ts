import { FarmError, formatDuration } from "@farmgate/shared";
import type { Farm } from "../farm.ts";
import type { Call, Received } from "../proxy/call.ts";
import { routingContext } from "../proxy/routing-context.ts";
import { hasFreeSlot } from "../routing/capacity.ts";
import { choose } from "../routing/choose.ts";
import type { Choice, Decision, RoutingRequest } from "../routing/types.ts";
import { drainingError } from "./draining-error.ts";
import { beginTrial } from "./trial.ts";
import { afterOthers } from "./come-again.ts";
import { groupOf } from "./waiting-group.ts";
import type { Waiter } from "./waiting-room.ts";

/** A worker taken for one request: its place is counted until `release`. */
export interface Taken {
  choice: Choice;
  release(): void;
}

/** No worker can be asked (any more). */
export type Nothing = Extract<Decision, { kind: "none" }>;

/**
 * Picks a worker and takes a place there. Where all of the best set are at their caps it waits, first come, first
 * served. Rejects with `queue_full`, `timeout_queue`, `deadline`, `draining`, and what ended the request while it waited.
 */
export function takeWorker(
  farm: Farm,
  call: Call,
  received: Received,
  request: RoutingRequest,
  tried: ReadonlySet<string>,
): Taken | Nothing | Promise<Taken | Nothing> {
  call.weighed = null;
  const decision = choose(request, routingContext(farm, waitingAhead(farm, request, tried)), tried);
  if (decision.kind === "none") return decision;
  if (decision.kind === "send") return take(farm, call, request, decision.choice);
  call.weighed = decision.weighed ?? null;
  return timedWait(farm, call, () => waitForWorker(farm, call, received, request, tried));
}

/** Counts the time of a wait as the request's own. */
export async function timedWait(
  farm: Farm,
  call: Call,
  wait: () => Promise<Taken | Nothing>,
): Promise<Taken | Nothing> {
  const startedAt = farm.clock.now() - call.waitedMs;
  call.phase = "waiting";
  try {
    return await wait();
  } finally {
    call.waitedMs = farm.clock.now() - startedAt;
  }
}

export function isTaken(taken: Taken | Nothing): taken is Taken {
  return "choice" in taken;
}

/** How many wait for the same workers already; 0 where that is of no account. */
export function waitingAhead(farm: Farm, request: RoutingRequest, tried: Iterable<string>): number {
  const { config, waitingRoom, deadlineQueue } = farm;
  if (!config.routing.waitOrSwap || waitingRoom.size + deadlineQueue.size === 0) return 0;
  const group = groupOf(request, tried);
  return waitingRoom.inGroup(group) + deadlineQueue.inGroup(group);
}

/** Counts a place at that worker for the request. */
export function take(farm: Farm, call: Call, request: RoutingRequest, choice: Choice): Taken {
  const { name } = choice.worker.config;
  // One that waited was weighed when it began to.
  call.weighed = choice.weighed ?? call.weighed;
  if (farm.config.routing.waitOrSwap) {
    const { worker, model } = choice;
    call.foundSlot = !model?.queued && hasFreeSlot(worker, model, farm.inflight.worker(name), request, farm);
  }
  farm.turns.picked(name, request.key, choice.turnWeight);
  const leave = farm.inflight.enter(name, request.key);
  call.place = name;
  const endTrial = beginTrial(farm, choice);
  const release = () => {
    leave();
    call.place = null;
    endTrial?.();
    farm.waitingRoom.wake();
    farm.deadlineQueue.wake();
  };
  return { choice, release };
}

function waitForWorker(
  farm: Farm,
  call: Call,
  received: Received,
  request: RoutingRequest,
  tried: ReadonlySet<string>,
): Promise<Taken | Nothing> {
  const { clock, waitingRoom } = farm;
  const { limits } = farm.config;
  const deadlineLeftMs = received.deadlineAt === null ? Number.POSITIVE_INFINITY : received.deadlineAt - clock.now();
  return new Promise((resolve, reject) => {
    const stop = (error: FarmError) => {
      stopTimer();
      call.onGone(null);
      waitingRoom.leave(waiter);
      reject(error);
    };
    const waiter: Waiter = {
      group: groupOf(request, tried),
      bytes: received.body.length,
      tryGo() {
        // Whoever came before it went before it.
        const decision = choose(request, routingContext(farm, 0), tried);
        if (decision.kind === "wait") return false;
        stopTimer();
        call.onGone(null);
        resolve(decision.kind === "send" ? take(farm, call, request, decision.choice) : decision);
        return true;
      },
      turnAway: () => stop(drainingError()),
    };
    const stopTimer = clock.after(Math.max(0, Math.min(limits.queueWait, deadlineLeftMs)), () =>
      stop(deadlineLeftMs <= limits.queueWait ? deadlineError() : queueTimeout(request.name, limits.queueWait)),
    );
    if (farm.draining) return stop(drainingError());
    if (!waitingRoom.enter(waiter, limits)) {
      stop(queueFull(afterOthers(farm, waitingRoom.size)));
      return;
    }
    call.onGone(stop);
  });
}

export function queueFull(retryAfterS: number): FarmError {
  return new FarmError("queue_full", "Too many requests wait already.", { retryAfterS });
}

export function queueTimeout(model: string, waitedMs: number): FarmError {
  const waited = formatDuration(waitedMs);
  return new FarmError("timeout_queue", `No worker for "${model}" had room within ${waited}.`);
}

/** The time that the caller gave for the first byte is over. */
export function deadlineError(): FarmError {
  return new FarmError("deadline", "The request's deadline passed before an answer began.");
}
