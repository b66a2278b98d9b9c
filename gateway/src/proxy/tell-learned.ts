import { nameKey } from "@farmgate/shared";
import type { Farm } from "../farm.ts";
import type { Choice } from "../routing/types.ts";
import type { Call } from "./call.ts";

/** Which worker holds the conversation from now on: it answers it. */
export function tellPrefix({ affinity, hub }: Farm, { prefix }: Call, worker: string): void {
  if (prefix === null) return;
  affinity.answered(prefix, worker);
  if (hub.isShared && prefix.whole !== null) hub.tell({ kind: "answered-prefix", hash: prefix.whole, worker });
}

/** How long the pair took to the first byte of a whole good answer. Where the model was not loaded that says nothing. */
export function tellFirstByte(farm: Farm, { worker, upstreamModel, attempt, sent, warmth, socket }: Call): void {
  if (worker === null || attempt === null || sent === null || socket !== null) return;
  const { firstByteFrom, firstDataAt, lastDataAt } = attempt;
  if (firstDataAt === null || lastDataAt === null) return;
  const ms = warmth === "warm" ? firstDataAt - firstByteFrom : null;
  const { api, streamed } = sent;
  const asked = { worker, key: nameKey(upstreamModel), api, streamed };
  farm.firstBytes.answered(asked, ms, lastDataAt);
  if (!farm.hub.isShared) return;
  farm.hub.tell({ kind: "first-byte", asked, ms, ageMs: Math.max(0, farm.clock.now() - lastDataAt) });
}

/** How fast the pair was, where requests are sent by what is predicted. */
export function tellRate(farm: Farm, { worker, upstreamModel, attempt, sent, warmth, tap, socket }: Call): void {
  if (farm.config.scheduling === "greedy" || warmth !== "warm") return;
  if (worker === null || attempt === null || sent === null || socket !== null) return;
  const { firstByteFrom, firstDataAt, lastDataAt } = attempt;
  if (firstDataAt === null || lastDataAt === null) return;
  const { bytes } = sent;
  const times = { firstByteMs: firstDataAt - firstByteFrom, lastByteMs: lastDataAt - firstByteFrom };
  const key = nameKey(upstreamModel);
  const answer = { bytes, streamed: tap.streamed, ...times };
  farm.pairRates.answered(worker, key, answer, farm.clock.now());
  if (farm.hub.isShared) farm.hub.tell({ kind: "rated", worker, key, answer });
}

/** What a whole answer with status 200 teaches of its worker's times, where they are used. */
export function tellLearned(farm: Farm, call: Call, { worker, warmth, upstreamModel }: Choice): void {
  if (!farm.config.routing.waitOrSwap) return;
  const { askedAt, firstByteAt, foundSlot, tap } = call;
  if (askedAt === null || firstByteAt === null) return;
  if (warmth !== "cold" && !(warmth === "warm" && foundSlot)) return;
  const { name } = worker.config;
  const key = nameKey(upstreamModel);
  const answer = {
    found: warmth,
    streamed: tap.streamed,
    firstByteMs: firstByteAt - askedAt,
    ms: farm.clock.now() - askedAt,
  };
  farm.learned.answered(name, key, answer);
  if (farm.hub.isShared) farm.hub.tell({ kind: "learned", worker: name, key, answer });
}
