import { HEADER, isStreamed } from "@farmgate/shared";
import type { Farm } from "../farm.ts";
import type { Call, Received } from "../proxy/call.ts";
import { routingContext } from "../proxy/routing-context.ts";
import { choose } from "../routing/choose.ts";
import type { RoutingRequest } from "../routing/types.ts";
import { mayRelax, wishesOfKey } from "../scheduling/asked-deadline.ts";
import type { QueuedRequest } from "../scheduling/deadline-queue.ts";
import { timeAt } from "../scheduling/moore-hodgson.ts";
import type { Waiting } from "../scheduling/queue-round.ts";
import { type Deadline, deadlineAt, missError } from "../scheduling/relaxed-deadline.ts";
import { tokensOf } from "../tokens-of-bytes.ts";
import { afterOthers } from "./come-again.ts";
import { drainingError } from "./draining-error.ts";
import { type Nothing, queueFull, queueTimeout, take, type Taken, takeWorker, timedWait } from "./take-worker.ts";
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
  const taken = ahead === 0 || farm.config.routing.waitOrSwap ? takeFree(farm, call, request, waiting, ahead) : null;
  // 4
  return taken ?? timedWait(farm, call, () => waitInQueue(farm, call, received, request, { ...waiting, group }));
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

function takeFree(farm: Farm, call: Call, request: RoutingRequest, waiting: Waiting, ahead: number): Taken | null {
  const decision = choose(request, routingContext(farm, ahead), new Set());
  call.weighed = (decision.kind === "wait" ? decision.weighed : null) ?? null;
  if (decision.kind !== "send") return null;
  const { weighed } = decision.choice;
  // 3
  if (weighed?.decision === "swap") return take(farm, call, request, decision.choice);
  call.weighed = weighed;
  // 2
  if (ahead > 0) return null;
  const { name } = decision.choice.worker.config;
  const { instances, restMs } = farm.deadlineQueue.slots({ ...request, only: name });
  const { deadline, streamed, tokens } = waiting;
  const endsBy = deadline === null ? Number.POSITIVE_INFINITY : deadlineAt(deadline) + (streamed ? restMs : 0);
  const job = { processing: tokens, deadline: endsBy };
  const now = farm.clock.now();
  const fits = instances.some((one) => one.availableAt <= now && one.availableAt + timeAt(one, job) <= endsBy);
  return fits ? take(farm, call, request, decision.choice) : null;
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
    const end = (how: () => void) => {
      stopTimer();
      call.onGone(null);
      deadlineQueue.leave(queued);
      how();
    };
    const queued: QueuedRequest = {
      ...waiting,
      bytes: received.body.length,
      request,
      send(worker) {
        const decision = choose({ ...request, only: worker }, routingContext(farm, 0), new Set());
        if (decision.kind !== "send") return false;
        end(() => resolve(take(farm, call, request, decision.choice)));
        return true;
      },
      goOn: () => end(() => resolve(takeWorker(farm, call, received, request, new Set()))),
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
