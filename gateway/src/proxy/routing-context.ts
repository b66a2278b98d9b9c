import type { Farm } from "../farm.ts";
import type { CapShare, RoutingContext } from "../routing/types.ts";

/**
 * What a choice is made with at this moment; see `Pricing` for `waitingAhead`. `isAlone`: the gateway cannot hear those
 * with which it acts as one.
 */
export function routingContext(
  farm: Farm,
  waitingAhead: number,
  isAlone: boolean = farm.hub.trouble !== null,
): RoutingContext {
  const { catalog, inflight, turns, lastCopies, learned, config, clock } = farm;
  const { strategy, waitOrSwap } = config.routing;
  const context = { catalog: catalog.current, inflight, turns, lastCopies, strategy, now: clock.now() };
  if (isAlone && farm.hub.isShared) {
    const share = shareOf(farm);
    return waitOrSwap
      ? { ...context, share, pricing: { learned, inflight, share, waitingAhead } }
      : { ...context, share };
  }
  return waitOrSwap ? { ...context, pricing: { learned, inflight, waitingAhead } } : context;
}

function shareOf({ hub, inflight }: Farm): CapShare {
  return { members: Math.max(1, hub.members().length), own: (worker) => inflight.ownWorker(worker) };
}
