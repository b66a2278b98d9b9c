import type { Farm } from "../farm.ts";
import type { Call } from "../proxy/call.ts";
import { routingContext } from "../proxy/routing-context.ts";
import { claimable, claimedChoice, onlyAt } from "../routing/claimable.ts";
import type { Choice, RoutingContext, RoutingRequest } from "../routing/types.ts";
import type { Claim } from "../together/hub.ts";
import { askHub, whileWanted } from "./ask-hub.ts";
import { giveKeyBack, keyToClaim, settleKey } from "./key-place.ts";
import { take, type Taken, wakeWaiting } from "./taken.ts";

/** What is asked of all gateways for a request, and the choice that it would be by what is known here. */
export interface PlaceClaim {
  claim: Claim;
  choice: Choice;
}

/**
 * What must be claimed before the request may go; null: nothing, the choice stands.
 *
 * 1. There are no other gateways, or they cannot be heard: nothing.
 * 2. Every place is claimed; one of the places has a cap; the key's limits have not been asked for yet.
 *
 * `isDecided`: the worker is, and no other will do.
 */
export function claimFor(
  farm: Farm,
  call: Call,
  request: RoutingRequest,
  context: RoutingContext,
  tried: ReadonlySet<string>,
  choice: Choice,
  isDecided: boolean = false,
): PlaceClaim | null {
  const { hub } = farm;
  // 1
  if (!hub.isShared || context.share !== undefined) return null;
  // 2
  const caller = keyToClaim(call);
  const isSure = hub.claimsAll || caller !== null;
  if (!isSure && context.catalog.workers.every(({ config }) => config.maxConcurrent === 0)) return null;
  const { places, take } = isDecided ? onlyAt(choice) : claimable(choice, request, context, tried);
  if (!isSure && places.every(({ cap }) => cap === 0)) return null;
  return { claim: { key: request.key, places, take, caller }, choice };
}

export type PlaceAnswer =
  | { kind: "taken"; taken: Taken }
  /** Full everywhere, or decide by what is known here. */
  | { kind: "full" | "alone" }
  /** The worker is out by now, or the request is not wanted any more: what was taken was given back. */
  | { kind: "void" };

/**
 * Claims a place. Meanwhile it counts here as a place at the worker that is most likely, so that who comes next is not
 * sent to a machine that is busy, and follows to one that must load the model. Rejects with `rate_limited`. Whoever
 * waits is to be woken afterwards.
 */
export async function claimPlace(
  farm: Farm,
  call: Call,
  request: RoutingRequest,
  { claim, choice }: PlaceClaim,
  isWanted: () => boolean,
): Promise<PlaceAnswer> {
  const likely = choice.worker.config.name;
  // By load others are told apart while this one is asked for; by turns they are only by the turn that it takes.
  const turnOf = farm.config.routing.strategy === "least-connections" ? null : likely;
  if (turnOf !== null) farm.turns.picked(turnOf, request.key, choice.turnWeight);
  const answered = farm.inflight.ask(likely, request.key);
  const claimed = await askHub(farm, claim).finally(answered);
  const worker = claimed.kind === "taken" ? claimed.worker : null;
  if (!isWanted()) {
    giveKeyBack(farm, claim.caller, claimed);
    if (worker !== null) farm.hub.counted(worker, claim.key);
    return { kind: "void" };
  }
  settleKey(farm, call, claim.caller, claimed);
  if (worker === null) return { kind: claimed.kind === "alone" ? "alone" : "full" };
  const now = claimedChoice(worker, claim, choice, request, routingContext(farm, 0));
  if (now === null) {
    farm.hub.counted(worker, claim.key);
    return { kind: "void" };
  }
  return { kind: "taken", taken: take(farm, call, request, now, { turnOf }) };
}

/** The same for a request that waits for nothing else. Rejects at once with what ended it. */
export function claimAtOnce(farm: Farm, call: Call, request: RoutingRequest, asked: PlaceClaim): Promise<PlaceAnswer> {
  return whileWanted(call, async (isWanted) => {
    try {
      return await claimPlace(farm, call, request, asked, isWanted);
    } finally {
      wakeWaiting(farm);
    }
  });
}
