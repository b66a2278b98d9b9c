import { retryAfter } from "@farmgate/shared";
import type { Farm } from "../farm.ts";

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
