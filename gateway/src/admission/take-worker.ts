import type { Farm } from "../farm.ts";
import type { Call, Received } from "../proxy/call.ts";
import { routingContext } from "../proxy/routing-context.ts";
import { choose } from "../routing/choose.ts";
import type { RoutingRequest } from "../routing/types.ts";
import { claimAtOnce, claimFor, type PlaceClaim } from "./claim-place.ts";
import { claimKey } from "./key-place.ts";
import { type Nothing, take, type Taken } from "./taken.ts";
import { waitForWorker } from "./wait-for-worker.ts";
import { groupOf } from "./waiting-group.ts";

/**
 * Picks a worker and takes a place there. Where all of the best set are at their caps it waits, first come, first
 * served. Among several gateways, the place is claimed first where it must be. Rejects with `queue_full`,
 * `timeout_queue`, `deadline`, `draining`, `rate_limited`, and what ended the request while it waited.
 */
export function takeWorker(
  farm: Farm,
  call: Call,
  received: Received,
  request: RoutingRequest,
  tried: ReadonlySet<string>,
): Taken | Nothing | Promise<Taken | Nothing> {
  call.weighed = null;
  const context = routingContext(farm, waitingAhead(farm, request, tried));
  const decision = choose(request, context, tried);
  if (decision.kind === "none") return decision;
  if (decision.kind === "send") {
    const asked = claimFor(farm, call, request, context, tried, decision.choice);
    if (asked === null) return take(farm, call, request, decision.choice);
    // Who came before it may be asking for that very place.
    const isFirst = farm.waitingRoom.size === 0 || farm.waitingRoom.inGroup(groupOf(request, tried)) === 0;
    if (isFirst) return takeByClaim(farm, call, received, request, tried, asked);
  } else {
    call.weighed = decision.weighed ?? null;
  }
  const wait = () => timedWait(farm, call, () => waitForWorker(farm, call, received, request, tried, null));
  const keyed = claimKey(farm, call);
  return keyed === null ? wait() : keyed.then(wait);
}

async function takeByClaim(
  farm: Farm,
  call: Call,
  received: Received,
  request: RoutingRequest,
  tried: ReadonlySet<string>,
  asked: PlaceClaim,
): Promise<Taken | Nothing> {
  const { freed } = farm.inflight;
  const answer = await claimAtOnce(farm, call, request, asked);
  if (answer.kind === "taken") return answer.taken;
  if (answer.kind === "void") return takeWorker(farm, call, received, request, tried);
  if (answer.kind === "alone") {
    const decision = choose(request, routingContext(farm, 0, true), tried);
    if (decision.kind === "none") return decision;
    if (decision.kind === "send") return take(farm, call, request, decision.choice);
  }
  return timedWait(farm, call, () => waitForWorker(farm, call, received, request, tried, freed));
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

/** How many wait for the same workers already; 0 where that is of no account. */
export function waitingAhead(farm: Farm, request: RoutingRequest, tried: Iterable<string>): number {
  const { config, waitingRoom, deadlineQueue } = farm;
  if (!config.routing.waitOrSwap || waitingRoom.size + deadlineQueue.size === 0) return 0;
  const group = groupOf(request, tried);
  return waitingRoom.inGroup(group) + deadlineQueue.inGroup(group);
}
