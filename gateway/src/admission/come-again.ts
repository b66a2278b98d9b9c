import { retryAfter } from "@farmgate/shared";
import type { Farm } from "../farm.ts";

/** When one is to come again who was refused while so many others were before it; in seconds. */
export function afterOthers({ clock, drainRate, random }: Farm, ahead: number): number {
  return retryAfter(ahead, drainRate.perSecond(clock.now()), random());
}

/** When one of so many places is free again, each held for as long as requests take here; in seconds. */
export function afterOneOf(farm: Farm, places: number): number {
  return afterOthers(farm, farm.live.size / places);
}
