import type { Farm } from "../farm.ts";
import type { Call } from "../proxy/call.ts";

/** Waits for the first round of polls (at most one poll's time-out). Rejects with what ended the request meanwhile. */
export function untilReady(farm: Farm, call: Call): Promise<void> {
  return new Promise((resolve, reject) => {
    call.phase = "waiting";
    call.onGone(reject);
    void farm.ready.then(() => {
      call.onGone(null);
      resolve();
    });
  });
}
