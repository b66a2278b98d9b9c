import { HEADER, isStreamed } from "@farmgate/shared";
import type { Farm } from "../farm.ts";
import type { Call, Received } from "../proxy/call.ts";
import { routingContext } from "../proxy/routing-context.ts";
import { choose } from "../routing/choose.ts";
import type { Choice, RoutingRequest } from "../routing/types.ts";
import { mayRelax, wishesOfKey } from "../scheduling/asked-deadline.ts";
import type { QueuedRequest } from "../scheduling/deadline-queue.ts";
import { canBeginNow, type Waiting } from "../scheduling/queue-round.ts";
import { type Deadline, deadlineAt, missError } from "../scheduling/relaxed-deadline.ts";
import { tokensOf } from "../tokens-of-bytes.ts";
import { afterOthers } from "./come-again.ts";
import { drainingError } from "./draining-error.ts";
import { claimAtOnce, claimFor, claimPlace, type PlaceClaim } from "./claim-place.ts";
import { claimKey } from "./key-place.ts";
import { takeWorker, timedWait } from "./take-worker.ts";
import { type Nothing, take, type Taken, wakeWaiting } from "./taken.ts";
import { queueFull, queueTimeout } from "./wait-errors.ts";
import { groupOf } from "./waiting-group.ts";

/**
 * As `takeWorker`; with `scheduling: deadline` a request waits here for a slot, and those that wait go in the order in
 * which most of them are on time:
 *
 * 1. A further try of a request that has waited already goes as always.
 * 2. Nobody waits for the same workers, and the one that routing takes has a free slot and can make it: it goes there.
 * 3. Where the owner lets waiting be weighed against loading elsewhere, and that costs less: it goes there.
 * 4. It waits in the queue of its model. What nobody can make is refused with `deadline` and its figures, or waits on
 *    with a longer deadline.
 *    Among several gateways it claims that very place first, and where it is not given it goes as always.
 * 5. The queue lets it go as always when nobody has the model loaded, so that somebody loads it; when it has no deadline
 *    and its patience is over; and when the queue is turned off.
 */
export function takeInTurn(
  farm: Farm,
  call: Call,
  received: Received,
  request: RoutingRequest,
  tried: ReadonlySet<string>,
): Taken | Nothing | Promise<Taken | Nothing> {
  // 1
  if (farm.config.scheduling === "greedy" || tried.size > 0) return takeWorker(farm, call, received, request, tried);
  const waiting = asWaiting(farm, call, received);
  const group = groupOf(request, tried);
  const ahead = farm.deadlineQueue.inGroup(group);
  // 2, 3
  const free = ahead === 0 || farm.config.routing.waitOrSwap ? freeChoice(farm, call, request, waiting, ahead) : null;
  const asked = free === null ? null : claimOf(farm, call, request, free);
  if (free !== null && asked === null) return take(farm, call, request, free);
  // 4
  const wait = () => timedWait(farm, call, () => waitInQueue(farm, call, received, request, { ...waiting, group }));
  if (asked !== null) return takeOrWait(farm, call, request, asked, wait);
  const keyed = claimKey(farm, call);
  return keyed === null ? wait() : keyed.then(wait);
}

/** null: the place need not be claimed. */
function claimOf(farm: Farm, call: Call, request: RoutingRequest, choice: Choice): PlaceClaim | null {
  return claimFor(farm, call, request, routingContext(farm, 0), NONE_TRIED, choice, true);
}

const NONE_TRIED: ReadonlySet<string> = new Set();

async function takeOrWait(
  farm: Farm,
  call: Call,
  request: RoutingRequest,
  asked: PlaceClaim,
  wait: () => Promise<Taken | Nothing>,
): Promise<Taken | Nothing> {
  const answer = await claimAtOnce(farm, call, request, asked);
  return answer.kind === "taken" ? answer.taken : wait();
}

function asWaiting(farm: Farm, call: Call, received: Received): Waiting {
  const { body, scan, deadlineAt: endsAt } = received;
  const own = wishesOfKey(farm.config, call.callerName);
  const relax = mayRelax(call.request.headers[HEADER.deadlineRelax], own, farm.config.deadlines);
  const deadline: Deadline | null =
    endsAt === null
      ? null
      : { arrivedAt: call.arrivedAt, askedMs: endsAt - call.arrivedAt, mayRelax: relax, relaxed: 0 };
  const streamed = isStreamed(call.api, scan.stream);
  return { tokens: tokensOf(body.length), streamed, deadline, enteredAt: farm.clock.now() };
}

/** null: it must wait. */
function freeChoice(farm: Farm, call: Call, request: RoutingRequest, waiting: Waiting, ahead: number): Choice | null {
  const decision = choose(request, routingContext(farm, ahead), NONE_TRIED);
  call.weighed = (decision.kind === "wait" ? decision.weighed : null) ?? null;
  if (decision.kind !== "send") return null;
  const { weighed } = decision.choice;
  // 3
  if (weighed?.decision === "swap") return decision.choice;
  call.weighed = weighed;
  // 2
  if (ahead > 0) return null;
  const { name } = decision.choice.worker.config;
  const { instances, restMs } = farm.deadlineQueue.slots({ ...request, only: name });
  return canBeginNow(waiting, instances, restMs, farm.clock.now()) ? decision.choice : null;
}

function waitInQueue(
  farm: Farm,
  call: Call,
  received: Received,
  request: RoutingRequest,
  waiting: Waiting & { group: string },
): Promise<Taken | Nothing> {
  const { clock, deadlineQueue, metrics } = farm;
  const { limits } = farm.config;
  return new Promise((resolve, reject) => {
    let isWanted = true;
    const end = (how: () => void) => {
      isWanted = false;
      stopTimer();
      call.onGone(null);
      deadlineQueue.leave(queued);
      how();
    };
    const goOn = () => end(() => resolve(takeWorker(farm, call, received, request, NONE_TRIED)));
    /** It has left the queue meanwhile: nothing else is to be decided for it. */
    const ask = async (asked: PlaceClaim) => {
      try {
        const answer = await claimPlace(farm, call, request, asked, () => isWanted);
        if (!isWanted) return;
        if (answer.kind === "taken") end(() => resolve(answer.taken));
        else goOn();
      } catch (error) {
        if (isWanted) end(() => reject(error));
      } finally {
        wakeWaiting(farm);
      }
    };
    const queued: QueuedRequest = {
      ...waiting,
      bytes: received.body.length,
      request,
      send(worker) {
        const decision = choose({ ...request, only: worker }, routingContext(farm, 0), NONE_TRIED);
        if (decision.kind !== "send") return false;
        const asked = claimOf(farm, call, request, decision.choice);
        if (asked === null) end(() => resolve(take(farm, call, request, decision.choice)));
        else void ask(asked);
        return true;
      },
      goOn,
      relax(deadline) {
        metrics.deadlineMissed("relaxed");
        queued.deadline = deadline;
        received.deadlineAt = deadlineAt(deadline);
      },
      refuse(figures) {
        metrics.deadlineMissed("refused");
        end(() => reject(missError(figures)));
      },
    };
    const stopTimer = clock.after(limits.queueWait, () =>
      end(() => reject(queueTimeout(request.name, limits.queueWait))),
    );
    const stop = (error: Error) => end(() => reject(error));
    if (farm.draining) return stop(drainingError());
    call.onGone(stop);
    if (!deadlineQueue.enter(queued, limits)) stop(queueFull(afterOthers(farm, deadlineQueue.size)));
  });
}
