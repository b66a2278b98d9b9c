import { FarmError } from "@farmgate/shared";

/** Told to requests that no worker has been asked for yet when the gateway begins to stop, and to those that come then. */
export function drainingError(): FarmError {
  return new FarmError("draining", "The gateway is about to stop.", { retryAfterS: 5 });
}
