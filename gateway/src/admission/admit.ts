import { FarmError } from "@farmgate/shared";
import { isBeyondLimit } from "@farmgate/wire";
import type { Farm } from "../farm.ts";
import type { Call } from "../proxy/call.ts";
import { afterOneOf } from "./come-again.ts";

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
