import { FarmError, formatDuration } from "@farmgate/shared";
import type { Stall } from "@farmgate/wire";

/** What ends the request of a caller who stood still for `ms` milliseconds. */
export function stallError(stall: Stall, ms: number): FarmError {
  const time = formatDuration(ms);
  return stall === "sending"
    ? new FarmError("timeout_request", `Nothing of the request came for ${time}.`)
    : new FarmError("client_closed", `The caller took nothing of its answer for ${time}.`);
}
