import type { Farm } from "../farm.ts";
import type { RoutingContext } from "../routing/types.ts";

/** What a choice is made with at this moment; see `Pricing` for `waitingAhead`. */
export function routingContext(farm: Farm, waitingAhead: number): RoutingContext {
  const { catalog, inflight, turns, lastCopies, learned, config, clock } = farm;
  const { strategy, waitOrSwap } = config.routing;
  const context = { catalog: catalog.current, inflight, turns, lastCopies, strategy, now: clock.now() };
  return waitOrSwap ? { ...context, pricing: { learned, inflight, waitingAhead } } : context;
}
