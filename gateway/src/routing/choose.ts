import { isAtCap } from "./capacity.ts";
import { goesBefore, noCandidate, orderReason, toChoice, weigh } from "./candidate.ts";
import { nothingServes } from "./nothing-serves.ts";
import { lookAgain } from "./second-look.ts";
import { standingWith } from "./standing.ts";
import type { Decision, RoutingContext, RoutingRequest } from "./types.ts";

/**
 * Picks the worker for a request, in one pass over the farm:
 *
 * 1. Workers that were tried, or are out (see `standingOf`), do not count.
 * 2. The best set that has a worker wins; a lower set never does, however free it is.
 * 3. In it, workers at their cap are passed over. All are: wait for this set.
 * 4. Of the others the first by: not just refused a connection; among cold ones, drops no last warm copy of a model in
 *    use; holds the conversation's prefix and has a free slot; the strategy's measure; warmer before colder; the
 *    turn (see `Turns`); the order of the configuration.
 * 5. Where the owner lets waiting be weighed against loading elsewhere, and nothing was tried yet: a second look, which
 *    may take a worker of a lower set, or of full workers the one with the least wait (see `lookAgain`).
 */
export function choose(request: RoutingRequest, context: RoutingContext, tried: ReadonlySet<string>): Decision {
  let best = noCandidate();
  let next = noCandidate();
  let bestRank = Number.POSITIVE_INFINITY;
  let rivals = 0;
  for (const entry of context.catalog.workers) {
    // 1
    if (tried.size > 0 && tried.has(entry.config.name)) continue;
    const model = entry.byKey.get(request.key);
    const standing = standingWith(entry, model, request, context);
    if (standing.set === null || standing.rank > bestRank) continue;
    // 2
    if (standing.rank < bestRank) {
      bestRank = standing.rank;
      best.entry = null;
      best.standing = standing;
      rivals = 0;
    }
    // 3
    if (isAtCap(entry, context)) continue;
    rivals += 1;
    // 4
    weigh(next, entry, model ?? null, standing, request, context);
    if (best.entry === null || goesBefore(next, best, request.key, context)) {
      const beaten = best;
      best = next;
      next = beaten;
    }
  }
  if (best.standing?.set == null) return nothingServes(request, context);
  // 5
  const { pricing } = context;
  const weighs = pricing !== undefined && tried.size === 0;
  const second = weighs ? lookAgain(best.entry, best.standing.set, request, context, pricing) : null;
  if (second !== null && (best.entry !== null || second.weighed.decision === "swap")) {
    const { entry, standing, weighed } = second;
    return { kind: "send", choice: toChoice(entry, standing, weighed.reason, weighed, request, context) };
  }
  if (best.entry !== null) {
    const order = orderReason(best, rivals, request, context);
    return { kind: "send", choice: toChoice(best.entry, best.standing, order, null, request, context) };
  }
  return { kind: "wait", set: best.standing.set, ...(second !== null && { weighed: second.weighed }) };
}
