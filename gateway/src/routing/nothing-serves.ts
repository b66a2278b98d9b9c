import { anyGlobMatches } from "@farmgate/shared";
import type { WorkerEntry } from "../catalog/types.ts";
import { ambiguousWords, lackingWords, unknownWords } from "./not-found-words.ts";
import { describeStanding, OTHER_API, OTHER_VARIANT, standingOf } from "./standing.ts";
import type { Decision, RoutingContext, RoutingRequest } from "./types.ts";
import { spokenWords } from "./ways.ts";

/** Workers that a message names before it only counts. */
const NAMED = 3;

/**
 * Why no worker can serve the model, and which of the two errors that is:
 *
 * 1. No worker is in use at all: `no_worker`, since nobody knows what they would have.
 * 2. Some worker lists it (it is away, draining, set aside, ...): `no_worker`; but where all that list it serve other
 *    APIs with it, `model_not_found`, since waiting would not help. Where one worker was asked for, it alone counts.
 * 3. Workers have the name as an alias of different models: `model_not_found`, with these.
 * 4. Some catalogue is not known: `no_worker`, the model may be there.
 * 5. Else nobody has it: `model_not_found`, with names that come close; or the one that was asked for does not, with
 *    those that do.
 *
 * Models that the caller's key does not allow are not named.
 */
export function nothingServes(request: RoutingRequest, context: RoutingContext): Decision {
  const { catalog } = context;
  const { union, aliases } = catalog;
  const { key, name, only, patterns } = request;
  const workers = only === null ? catalog.workers : catalog.workers.filter(({ config }) => config.name === only);
  // 1
  if (!workers.some(isInUse)) {
    const none = only === null ? "the farm has no workers" : `${only} is no worker any more`;
    return noWorker(request, workers.length === 0 ? none : why(workers, request, context));
  }
  // 2
  const listing = workers.filter((entry) => entry.byKey.has(key));
  if (listing.length > 0 && listing.every((entry) => standingOf(entry, request, context) === OTHER_API)) {
    const spoken = told(listing, (entry) => `${entry.config.name}: ${spokenWords(entry, entry.byKey.get(key))}`);
    return notFound(`No worker serves ${request.api} with the model "${name}" (${spoken}).`);
  }
  if (listing.length > 0) return noWorker(request, why(listing, request, context));
  // 3
  const meant = aliases.get(key) ?? [];
  const mayKnow = ({ id }: { id: string }) => anyGlobMatches(patterns, id);
  if (meant.length > 1 && only === null) return notFound(ambiguousWords(name, meant.filter(mayKnow)));
  // 4
  const unknown = workers.filter((entry) => isInUse(entry) && entry.catalog === "unreachable");
  const mayBeThere = only === null ? !catalog.allKnown : unknown.length > 0;
  if (mayBeThere) return noWorker(request, why(unknown, request, context));
  // 5
  const having = union.get(key)?.workers ?? meant.flatMap((target) => target.workers);
  if (only !== null && having.length > 0) return notFound(lackingWords(name, only, having));
  const known = [...new Set(union.values())].filter(mayKnow);
  return notFound(
    unknownWords(
      name,
      known.map(({ id }) => id),
    ),
  );
}

function isInUse(entry: WorkerEntry): boolean {
  return entry.health !== "unhealthy" && entry.health !== "misconfigured";
}

function notFound(message: string): Decision {
  return { kind: "none", code: "model_not_found", message };
}

function noWorker(request: RoutingRequest, reason: string): Decision {
  const { name, only } = request;
  const model = only === null ? name : `${name}@${only}`;
  return { kind: "none", code: "no_worker", message: `No worker can serve "${model}" now: ${reason}.` };
}

/** Workers with another variant of the model than the one that was tried, with which; empty: there are none. */
export function otherVariants(request: RoutingRequest, context: RoutingContext): string {
  if (request.held === null) return "";
  const kept = context.catalog.workers.filter((entry) => standingOf(entry, request, context) === OTHER_VARIANT);
  return why(kept, request, context);
}

function why(entries: readonly WorkerEntry[], request: RoutingRequest, context: RoutingContext): string {
  return told(entries, (entry) => {
    const standing = standingOf(entry, request, context);
    if (standing.set !== null) return `${entry.config.name} was tried`;
    const isTold = standing === OTHER_API || standing === OTHER_VARIANT;
    return `${entry.config.name} ${isTold ? describeStanding(standing, entry, request, context.now) : standing.why}`;
  });
}

function told(entries: readonly WorkerEntry[], words: (entry: WorkerEntry) => string): string {
  const named = entries.slice(0, NAMED).map(words);
  if (entries.length > NAMED) named.push(`and ${entries.length - NAMED} more`);
  return named.join("; ");
}
