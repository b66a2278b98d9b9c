import { FarmError, formatDuration, retryAfter } from "@farmgate/shared";
import { isBeyondLimit, type Stall } from "@farmgate/wire";
import type { Farm } from "../farm.ts";
import type { Call } from "../proxy/call.ts";

/** When one is to come again who was refused while so many others were before it; in seconds. */
export function afterOthers({ clock, drainRate, random }: Farm, ahead: number): number {
  return retryAfter(ahead, drainRate.perSecond(clock.now()), random());
}

/**
 * When one of so many places is free again, each held for as long as requests take here; in seconds. How many end in a
 * second does not tell: on a quiet farm few do, and each at once.
 */
export function afterOneOf(
  { clock, drainRate, random }: Pick<Farm, "clock" | "drainRate" | "random">,
  places: number,
): number {
  const heldS = drainRate.meanS(clock.now());
  return retryAfter(1, heldS === null ? null : places / heldS, random());
}

/** Throws what refuses a request for what is under way already, before anything of it is read. */
export function admit(farm: Farm, { request }: Call): void {
  const { requests } = farm.config.limits;
  // It is among them.
  const others = farm.live.size - 1;
  if (requests > 0 && others >= requests) {
    const retryAfterS = afterOneOf(farm, requests);
    throw new FarmError("queue_full", `${requests} requests are under way already.`, { retryAfterS });
  }
  if (isBeyondLimit(request.socket)) {
    const retryAfterS = afterOneOf(farm, farm.connectionLimit());
    throw new FarmError("queue_full", "Too many connections are open already.", { retryAfterS });
  }
}

/** What ends the request of a caller who stands still. */
export function stallError({ config }: Farm, stall: Stall): FarmError {
  const time = formatDuration(config.timeouts.caller);
  return stall === "sending"
    ? new FarmError("timeout_request", `Nothing of the request came for ${time}.`)
    : new FarmError("client_closed", `The caller took nothing of its answer for ${time}.`);
}
