import { nameKey } from "@farmgate/shared";
import type { Farm } from "../farm.ts";
import type { Choice } from "../routing/types.ts";
import type { Call } from "./call.ts";

/** How long the pair took to the first byte of a whole good answer. Where the model was not loaded that says nothing. */
export function tellFirstByte(farm: Farm, { worker, upstreamModel, attempt, sent, warmth, socket }: Call): void {
  if (worker === null || attempt === null || sent === null || socket !== null) return;
  const { firstByteFrom, firstDataAt, lastDataAt } = attempt;
  if (firstDataAt === null || lastDataAt === null) return;
  const ms = warmth === "warm" ? firstDataAt - firstByteFrom : null;
  farm.firstBytes.answered({ worker, key: nameKey(upstreamModel), ...sent }, ms, lastDataAt);
}

/** How fast the pair was, where requests are sent by what is predicted. */
export function tellRate(farm: Farm, { worker, upstreamModel, attempt, sent, warmth, tap, socket }: Call): void {
  if (farm.config.scheduling === "greedy" || warmth !== "warm") return;
  if (worker === null || attempt === null || sent === null || socket !== null) return;
  const { firstByteFrom, firstDataAt, lastDataAt } = attempt;
  if (firstDataAt === null || lastDataAt === null) return;
  const { bytes } = sent;
  const times = { firstByteMs: firstDataAt - firstByteFrom, lastByteMs: lastDataAt - firstByteFrom };
  farm.pairRates.answered(
    worker,
    nameKey(upstreamModel),
    { bytes, streamed: tap.streamed, ...times },
    farm.clock.now(),
  );
}

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
