import { closeNames } from "@farmgate/shared";
import type { WorkerEntry } from "../catalog/types.ts";
import { describeStanding, OTHER_API, standingOf } from "./standing.ts";
import type { Decision, RoutingContext, RoutingRequest } from "./types.ts";
import { spokenWords } from "./ways.ts";

/** Workers that a message names before it only counts. */
const NAMED = 3;

/**
 * Why no worker can serve the model, and which of the two errors that is:
 *
 * 1. No worker is in use at all: `no_worker`, since nobody knows what they would have.
 * 2. Some worker lists it (it is away, draining, set aside, ...): `no_worker`; but where all that list it serve other
 *    APIs with it, `model_not_found`, since waiting would not help.
 * 3. Some catalogue is not known: `no_worker`, the model may be there.
 * 4. Else nobody has it: `model_not_found`, with names that come close.
 */
export function nothingServes(request: RoutingRequest, context: RoutingContext): Decision {
  const { workers, union, allKnown } = context.catalog;
  // 1
  if (!workers.some(isInUse)) {
    return noWorker(request, workers.length === 0 ? "the farm has no workers" : why(workers, request, context));
  }
  // 2
  const listing = workers.filter((entry) => entry.byKey.has(request.key));
  if (listing.length > 0 && listing.every((entry) => standingOf(entry, request, context) === OTHER_API)) {
    const spoken = told(
      listing,
      (entry) => `${entry.config.name}: ${spokenWords(entry, entry.byKey.get(request.key))}`,
    );
    return notFound(`No worker serves ${request.api} with the model "${request.name}" (${spoken}).`);
  }
  if (listing.length > 0) return noWorker(request, why(listing, request, context));
  // 3
  const unknown = workers.filter((entry) => isInUse(entry) && entry.catalog === "unreachable");
  if (!allKnown) return noWorker(request, why(unknown, request, context));
  // 4
  const close = closeNames(
    request.name,
    Array.from(union.values(), (model) => model.id),
  );
  const hint = close.length === 0 ? "" : ` Close to it: ${close.map((name) => `"${name}"`).join(", ")}.`;
  return notFound(`No worker has the model "${request.name}".${hint}`);
}

function isInUse(entry: WorkerEntry): boolean {
  return entry.health !== "unhealthy" && entry.health !== "misconfigured";
}

function notFound(message: string): Decision {
  return { kind: "none", code: "model_not_found", message };
}

function noWorker(request: RoutingRequest, reason: string): Decision {
  return { kind: "none", code: "no_worker", message: `No worker can serve "${request.name}" now: ${reason}.` };
}

function why(entries: readonly WorkerEntry[], request: RoutingRequest, context: RoutingContext): string {
  return told(entries, (entry) => {
    const standing = standingOf(entry, request, context);
    if (standing.set !== null) return `${entry.config.name} was tried`;
    return `${entry.config.name} ${standing === OTHER_API ? describeStanding(standing, entry, request) : standing.why}`;
  });
}

function told(entries: readonly WorkerEntry[], words: (entry: WorkerEntry) => string): string {
  const named = entries.slice(0, NAMED).map(words);
  if (entries.length > NAMED) named.push(`and ${entries.length - NAMED} more`);
  return named.join("; ");
}
