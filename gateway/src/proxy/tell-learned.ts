import { nameKey } from "@farmgate/shared";
import type { Farm } from "../farm.ts";
import type { Choice } from "../routing/types.ts";
import type { Call } from "./call.ts";

/** What a whole answer with status 200 teaches of its worker's times, where they are used. */
export function tellLearned(farm: Farm, call: Call, { worker, warmth, upstreamModel }: Choice): void {
  if (!farm.config.routing.waitOrSwap) return;
  const { askedAt, firstByteAt, foundSlot, tap } = call;
  if (askedAt === null || firstByteAt === null) return;
  if (warmth !== "cold" && !(warmth === "warm" && foundSlot)) return;
  farm.learned.answered(worker.config.name, nameKey(upstreamModel), {
    found: warmth,
    streamed: tap.streamed,
    firstByteMs: firstByteAt - askedAt,
    ms: farm.clock.now() - askedAt,
  });
}
