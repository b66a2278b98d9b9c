import type { FarmError } from "@farmgate/shared";
import type { Farm } from "../farm.ts";
import type { Call } from "../proxy/call.ts";
import type { Claim, Claimed } from "../together/hub.ts";

export async function askHub({ hub, metrics, clock }: Farm, claim: Claim): Promise<Claimed> {
  const askedAt = clock.now();
  const claimed = await hub.claim(claim);
  metrics.claimed(claimed.kind, (clock.now() - askedAt) / 1_000);
  return claimed;
}

/**
 * Waits for an answer from the others as long as the request is wanted; rejects at once with what ended it. `ask` finds
 * out by `isWanted` whether it may still take something.
 */
export function whileWanted<T>(call: Call, ask: (isWanted: () => boolean) => Promise<T>): Promise<T> {
  call.phase = "waiting";
  return new Promise((resolve, reject) => {
    let isWanted = true;
    call.onGone((error: FarmError) => {
      isWanted = false;
      reject(error);
    });
    if (!isWanted) return;
    const end = (how: () => void) => {
      if (!isWanted) return;
      call.onGone(null);
      how();
    };
    ask(() => isWanted).then(
      (answer) => end(() => resolve(answer)),
      (error: unknown) => end(() => reject(error instanceof Error ? error : new Error(String(error)))),
    );
  });
}
