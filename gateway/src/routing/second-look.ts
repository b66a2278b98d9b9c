import { formatDuration } from "@farmgate/shared";
import type { WorkerEntry } from "../catalog/types.ts";
import { isAtCap } from "./capacity.ts";
import { droppedBy } from "./dropped-copy.ts";
import { type Pair, swapFigures, waitFigures } from "./pair-figures.ts";
import { type Standing, standingOf } from "./standing.ts";
import type { Pricing, RoutingContext, RoutingRequest, RoutingSet, Weighed } from "./types.ts";
import { type Line, predictSwap, predictWait, type Priced, weigh } from "./wait-or-swap.ts";

interface Place extends Pair, Priced {
  standing: Standing;
}

interface SecondLook {
  weighed: Weighed;
  /** Where the request goes, or whom it waits for. */
  entry: WorkerEntry;
  standing: Standing;
}

/**
 * Weighs waiting at the workers of the best set against loading at one of a lower set, for a request that was tried
 * nowhere yet. `picked` is the first of the best set with room below its cap; null: none of them has. null comes back
 * when things stay as they are:
 *
 * 1. The best set is neither leading nor loading: somebody must load it anyway.
 * 2. A worker of the best set has a free slot. Only those with room below their caps count, if any has, and those
 *    that refused a connection only beside others that did.
 * 3. Nobody else could load it: they stand lower than cold, are at their caps, refused a connection, or would drop the
 *    farm's last warm copy of a model in use, which needs no loss where waiting is possible.
 * 4. The figures do not suffice (see `weigh`).
 */
export function lookAgain(
  picked: WorkerEntry | null,
  set: RoutingSet,
  request: RoutingRequest,
  context: RoutingContext,
  pricing: Pricing,
): SecondLook | null {
  // 1
  if (set !== "leading" && set !== "loading") return null;
  // 2: what decides most requests, before all workers are looked at
  const pair = picked && { entry: picked, model: picked.byKey.get(request.key) ?? null, key: request.key };
  if (pair !== null && hasRoom(waitFigures(pair, pricing, 0).slots)) return null;
  const leading: Place[] = [];
  const others: Place[] = [];
  for (const entry of context.catalog.workers) {
    const standing = standingOf(entry, request, context);
    const isBest = standing.set === set;
    const isOther = !isBest && (standing.set === "cold" || standing.set === "loading");
    if (!isBest && !isOther) continue;
    const atCap = isAtCap(entry, context);
    if (isBest && picked !== null && (atCap || entry.refused !== picked.refused)) continue;
    // 3
    if (isOther && (atCap || entry.refused)) continue;
    const model = entry.byKey.get(request.key) ?? null;
    if (isOther && droppedBy(entry, model, standing, context) !== null) continue;
    const turn = context.turns.pass(entry.config.name, request.key);
    (isBest ? leading : others).push({ entry, model, key: request.key, standing, ms: null, turn });
  }
  if (others.length === 0) return null;
  // Whoever waits at the gateway waits for all of them.
  const ahead = pricing.waitingAhead / leading.length;
  for (const place of leading) {
    const figures = waitFigures(place, pricing, ahead);
    if (picked !== null && hasRoom(figures.slots)) return null;
    place.ms = predictWait(figures);
  }
  for (const place of others) place.ms = predictSwap(swapFigures(place, pricing));
  // 4
  const verdict = weigh(leading, others);
  if (verdict === null) return null;
  const { decision, wait, swap } = verdict;
  const goes = decision === "wait" ? wait : swap;
  const weighed = {
    decision,
    waitMs: wait.ms,
    swapMs: swap.ms,
    worker: nameOf(goes),
    reason: inWords(wait, swap, goes),
  };
  return { weighed, entry: goes.entry, standing: goes.standing };
}

/** `waiting at gpu-box would take about 40 s, loading on mac about 25 s: mac` */
function inWords(wait: Place & { ms: number }, swap: Place & { ms: number }, goes: Place): string {
  const both = `waiting at ${nameOf(wait)} would take about ${formatDuration(wait.ms)}, loading on ${nameOf(swap)} about`;
  const tooClose = goes === wait && swap.ms < wait.ms ? ", which gains too little" : "";
  return `${both} ${formatDuration(swap.ms)}${tooClose}: ${nameOf(goes)}`;
}

function hasRoom(slots: Line | null): boolean {
  return slots === null || slots.ahead < slots.places;
}

function nameOf({ entry }: Pair): string {
  return entry.config.name;
}
