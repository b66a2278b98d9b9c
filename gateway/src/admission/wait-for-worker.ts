import type { Farm } from "../farm.ts";
import type { Call, Received } from "../proxy/call.ts";
import { routingContext } from "../proxy/routing-context.ts";
import { choose } from "../routing/choose.ts";
import type { RoutingContext, RoutingRequest } from "../routing/types.ts";
import { claimFor, claimPlace, type PlaceClaim } from "./claim-place.ts";
import { afterOthers } from "./come-again.ts";
import { drainingError } from "./draining-error.ts";
import { type Nothing, take, type Taken, wakeWaiting } from "./taken.ts";
import { deadlineError, queueFull, queueTimeout } from "./wait-errors.ts";
import { groupOf } from "./waiting-group.ts";
import type { Waiter } from "./waiting-room.ts";

/** Who asked the others in vain asks again after so long, in milliseconds, even where no place seems to be free again. */
const ASK_AGAIN_MS = 25;

/**
 * Waits in the waiting room until a worker has room. Where its place must be claimed it asks as soon as there seems to
 * be one, and holds up those of its group meanwhile. `refusedAt`: `freed` when it asked in vain; null: it has not asked.
 */
export function waitForWorker(
  farm: Farm,
  call: Call,
  received: Received,
  request: RoutingRequest,
  tried: ReadonlySet<string>,
  refusedAt: number | null,
): Promise<Taken | Nothing> {
  const { clock, waitingRoom, inflight } = farm;
  const { limits } = farm.config;
  const deadlineLeftMs = received.deadlineAt === null ? Number.POSITIVE_INFINITY : received.deadlineAt - clock.now();
  return new Promise((resolve, reject) => {
    let isWanted = true;
    let isAsking = false;
    let pausesAt: number | null = null;
    let stopPause = () => {};
    const end = (how: () => void) => {
      isWanted = false;
      stopTimer();
      stopPause();
      call.onGone(null);
      waitingRoom.leave(waiter);
      how();
    };
    const stop = (error: unknown) => end(() => reject(error));
    const go = (taken: Taken | Nothing) => end(() => resolve(taken));
    const pause = (freed: number) => {
      stopPause();
      pausesAt = freed;
      stopPause = clock.after(ASK_AGAIN_MS, () => {
        pausesAt = null;
        waitingRoom.wake();
      });
    };
    const ask = async (asked: PlaceClaim) => {
      const { freed } = inflight;
      isAsking = true;
      try {
        const answer = await claimPlace(farm, call, request, asked, () => isWanted);
        isAsking = false;
        if (!isWanted) return;
        if (answer.kind === "taken") go(answer.taken);
        else if (answer.kind !== "alone" || !goBy(routingContext(farm, 0, true))) pause(freed);
      } catch (error) {
        if (isWanted) stop(error);
      } finally {
        wakeWaiting(farm);
      }
    };
    const goBy = (context: RoutingContext): boolean => {
      const decision = choose(request, context, tried);
      if (decision.kind === "wait") return false;
      if (decision.kind === "none") {
        go(decision);
        return true;
      }
      const asked = claimFor(farm, call, request, context, tried, decision.choice);
      if (asked === null) go(take(farm, call, request, decision.choice));
      else void ask(asked);
      return asked === null;
    };
    const waiter: Waiter = {
      group: groupOf(request, tried),
      bytes: received.body.length,
      // Whoever came before it went before it.
      tryGo: () => !isAsking && pausesAt !== inflight.freed && goBy(routingContext(farm, 0)),
      turnAway: () => stop(drainingError()),
    };
    const stopTimer = clock.after(Math.max(0, Math.min(limits.queueWait, deadlineLeftMs)), () =>
      stop(deadlineLeftMs <= limits.queueWait ? deadlineError() : queueTimeout(request.name, limits.queueWait)),
    );
    if (farm.draining) return stop(drainingError());
    if (!waitingRoom.enter(waiter, limits)) return stop(queueFull(afterOthers(farm, waitingRoom.size)));
    call.onGone(stop);
    if (!farm.hub.isShared || !isWanted) return;
    if (refusedAt !== null) pause(refusedAt);
    // While it asked, or asked for its key, things may have changed.
    waitingRoom.wake();
  });
}
