import type { WorkerEntry } from "../catalog/types.ts";
import type { Claim, WantedPlace } from "../together/hub.ts";
import { type Candidate, goesBefore, noCandidate, orderReason, toChoice, weigh } from "./candidate.ts";
import { capacity } from "./capacity.ts";
import { standingOf } from "./standing.ts";
import type { Choice, RoutingContext, RoutingRequest } from "./types.ts";

/** The part of a claim that routing decides. */
export type Claimable = Pick<Claim, "places" | "take">;

/**
 * At which workers a place is claimed for a request that `choose` sends to `choice`, so that counts which are newer than
 * those here lead to the same worker that `choose` would take by them:
 *
 * 1. Waiting was weighed against loading: that worker alone.
 * 2. Else its whole set, those at their caps as well: they may have room by now.
 * 3. By least connections, where others are its equals up to the load: those of its set that are, whichever is least
 *    loaded; of equals the first by warmth, turn and configuration. A trial is no matter of load.
 * 4. Else the first of the set that has room, in the order of `choose`.
 */
export function claimable(
  choice: Choice,
  request: RoutingRequest,
  context: RoutingContext,
  tried: ReadonlySet<string>,
): Claimable {
  // 1
  if (choice.weighed !== null) return onlyAt(choice);
  const { key } = request;
  const chosen = candidateAt(choice.worker, request, context);
  // 2
  const set: Candidate[] = [];
  for (const entry of context.catalog.workers) {
    if (tried.has(entry.config.name)) continue;
    const candidate = candidateAt(entry, request, context);
    if (candidate !== null && candidate.standing?.rank === chosen?.standing?.rank) set.push(candidate);
  }
  // 3
  if (context.strategy === "least-connections" && chosen !== null && !chosen.isTrial) {
    const equals = set.filter((one) => isEqualUpToLoad(one, chosen));
    if (equals.length > 1) {
      for (const one of equals) one.measure = 0;
      return { places: inOrder(equals, key, context), take: "least-loaded" };
    }
  }
  // 4
  return { places: inOrder(set, key, context), take: "first" };
}

/** For who has decided on the worker already. */
export function onlyAt({ worker, model }: Choice): Claimable {
  return { places: [placeAt(worker, model)], take: "first" };
}

/**
 * The choice of the worker at which a place was claimed as `claimed`, with `asked` the choice that led to the claim; null:
 * it is out by now, and the place is of no use.
 */
export function claimedChoice(
  worker: string,
  claimed: Claimable,
  asked: Choice,
  request: RoutingRequest,
  context: RoutingContext,
): Choice | null {
  const entry = context.catalog.workers.find(({ config }) => config.name === worker);
  const candidate = entry === undefined ? null : candidateAt(entry, request, context);
  if (entry === undefined || candidate?.standing == null) return null;
  const weighed = asked.worker.config.name === worker ? asked.weighed : null;
  const order = weighed?.reason ?? orderReason(candidate, claimed.places.length, request, context);
  return toChoice(entry, candidate.standing, `${order}, claimed among all gateways`, weighed, request, context);
}

/** null: it is out. */
function candidateAt(entry: WorkerEntry, request: RoutingRequest, context: RoutingContext): Candidate | null {
  const standing = standingOf(entry, request, context);
  if (standing.set === null) return null;
  const candidate = noCandidate();
  weigh(candidate, entry, entry.byKey.get(request.key) ?? null, standing, request, context);
  return candidate;
}

function isEqualUpToLoad(a: Candidate, b: Candidate): boolean {
  return (
    a.refused === b.refused &&
    (a.drops === null) === (b.drops === null) &&
    a.holdsPrefix === b.holdsPrefix &&
    a.isTrial === b.isTrial
  );
}

function inOrder(candidates: Candidate[], key: string, context: RoutingContext): WantedPlace[] {
  candidates.sort((a, b) => (goesBefore(a, b, key, context) ? -1 : goesBefore(b, a, key, context) ? 1 : 0));
  return candidates.flatMap(({ entry, model }) => (entry === null ? [] : [placeAt(entry, model)]));
}

function placeAt(entry: WorkerEntry, model: Choice["model"]): WantedPlace {
  return { worker: entry.config.name, cap: entry.config.maxConcurrent, capacity: capacity(entry, model) };
}
