import { anyGlobMatches, formatDuration, nameKey } from "@farmgate/shared";
import type { CatalogModel, EngineName } from "@farmgate/engines";
import type { WorkerEntry } from "../catalog/types.ts";
import { breakerWords, mayAsk, trialWords } from "./breaker.ts";
import { isAtCap } from "./capacity.ts";
import type { RoutingContext, RoutingRequest, RoutingSet, Warmth } from "./types.ts";
import { differenceWords, isOtherVariant } from "./variant.ts";
import { isWay, spokenWords, wayTo } from "./ways.ts";

/** Where a worker stands with a model. One shared value for each case, so that judging a worker allocates nothing. */
export interface Standing {
  /** null: out. */
  set: RoutingSet | null;
  /** Place of the set, 0 is best. `OUT_RANK`: out. */
  rank: number;
  warmth: Warmth;
  /** For people: "gpu-box ...". */
  why: string;
}

const OUT_RANK = 6;
const RANK: Record<RoutingSet, number> = {
  leading: 0,
  loading: 1,
  cold: 2,
  failed: 3,
  "breaker-open": 4,
  unlisted: 5,
};

const WARM = inSet("leading", "warm", "has it loaded");
const CANNOT_SAY = inSet("leading", "possibly-warm", "lists it and cannot say whether it is loaded");
const UNREACHABLE = inSet("leading", "possibly-warm", "its catalogue cannot be fetched, so it may have it loaded");
const LOADING = inSet("loading", "loading", "is loading it");
const WAKING = inSet("loading", "loading", "was just sent a request that makes it load it");
const COLD = inSet("cold", "cold", "has it, not loaded");
const FAILED = inSet("failed", "cold", "failed to load it last time, and is due for another try");
const AGENT_FAILED = inSet(
  "failed",
  "cold",
  "failed to load it last time, and may refuse it until its next try is due",
);
const UNLISTED = inSet("unlisted", "unlisted", "does not list it: a last resort");

const FAILS = "last requests for it failed there: a last resort";
const BREAKER_OPEN: Record<Warmth, Standing> = {
  warm: inSet("breaker-open", "warm", FAILS),
  "possibly-warm": inSet("breaker-open", "possibly-warm", FAILS),
  loading: inSet("breaker-open", "loading", FAILS),
  cold: inSet("breaker-open", "cold", FAILS),
  unlisted: inSet("breaker-open", "unlisted", FAILS),
};

const UNHEALTHY = out("is unhealthy");
const MISCONFIGURED = out("is misconfigured: it refuses the gateway's key");
const DRAINING = out("is draining");
const ASIDE = out("is set aside for this model");
/** The one standing that no waiting changes: the model is there, for other work. */
export const OTHER_API = out("does not serve this API with it");
const RETRY_LATER = out("failed to load it and is not due for another try yet");
const FORBIDDEN = out("its owner does not allow the model there");
const MAY_GUESS = out("does not list it and could answer with another model");
const NEVER_LISTED = out("does not list it, and no worker ever did");
const NOT_ASKED_FOR = out("is not the worker that was asked for");
const LACKS = out("does not list it");
const AMBIGUOUS = out("may not be asked: the name stands for different models");
const OTHERS_NAME = out("has that name for another model");
/** The model is there, but not as it was when a first try failed. */
export const OTHER_VARIANT = out("has another variant");

/** Engines that answer an error for a name they don't have. `auto` that was not recognised is spoken to as openai. */
const REFUSES_UNKNOWN: Record<EngineName | "auto", boolean> = {
  agent: true,
  ollama: true,
  vllm: true,
  "llama-swap": true,
  jano: true,
  openai: true,
  auto: true,
  // Only in router mode, which its catalogue tells.
  "llama-server": false,
  lmstudio: false,
  mlx: false,
  tei: false,
  tgi: false,
  sglang: false,
  koboldcpp: false,
  whisper: false,
  // They may go and fetch what they don't have.
  localai: false,
  lemonade: false,
};

/**
 * Where the worker stands with the model of the request (contract: "Choosing a worker"):
 *
 * 1. Out: another worker was asked for by name, it is unhealthy, misconfigured, draining, or there is no way to put
 *    the question to it (see `wayTo`): it speaks neither the caller's API with this model nor one of its translations,
 *    or the pair is set aside for all of these.
 * 2. The worker's last good catalogue lists the model:
 *    2a. It is another variant than the one at which this very request failed: out.
 *    2b. Its catalogue cannot be fetched now: leading, possibly warm.
 *    2c. Its last load failed and the next try is not due: out.
 *    2d. By state: warm and unknown lead; loading, cold and failed have their own sets, but where a request is already
 *        on its way, a load has begun: loading.
 * 3. It does not:
 *    3a. The name is ambiguous, or this worker has it as an alias of another model: out.
 *    3b. Its owner does not allow the model, or 3c. its engine does not refuse unknown names: out.
 *    3d. Its catalogue cannot be fetched: leading, possibly warm.
 *    3e. Its catalogue is known: unlisted, unless no catalogue ever listed the model and all are known, or it is this
 *        worker's copy that was asked for.
 * 4. Not out, but its breaker for the model is open, and no trial is due, one is under way, or there is no room for one
 *    (nobody is to wait for a trial behind what hangs there): a set of its own, after all others that have the model. It
 *    is still asked before a request is refused, so that a breaker never makes routing worse than it is without: the
 *    engine may only be slow, a refusal helps nobody, and any answer closes it.
 */
export function standingOf(entry: WorkerEntry, request: RoutingRequest, context: RoutingContext): Standing {
  return standingWith(entry, entry.byKey.get(request.key), request, context);
}

/** `standingOf` for who has looked the model up already: on a big farm that look-up is most of the work. */
export function standingWith(
  entry: WorkerEntry,
  model: CatalogModel | undefined,
  request: RoutingRequest,
  context: RoutingContext,
): Standing {
  // 1
  if (request.only !== null && request.only !== entry.config.name) return NOT_ASKED_FOR;
  if (entry.health === "unhealthy") return UNHEALTHY;
  if (entry.health === "misconfigured") return MISCONFIGURED;
  if (entry.draining) return DRAINING;
  const way = wayTo(entry, model, request, context.now);
  if (!isWay(way)) return way === "aside" ? ASIDE : OTHER_API;
  const standing =
    model !== undefined ? listedStanding(entry, model, request, context) : unlistedStanding(entry, request, context);
  // 4
  if (entry.breakers.size > 0 && standing.set !== null && isAsideFor(entry, model, request, context)) {
    return BREAKER_OPEN[standing.warmth];
  }
  return standing;
}

function unlistedStanding(entry: WorkerEntry, request: RoutingRequest, context: RoutingContext): Standing {
  // 3a
  if (isAmbiguous(request, context)) return AMBIGUOUS;
  if (entry.byAlias.has(request.key)) return OTHERS_NAME;
  // 3b, 3c
  if (!ownerAllows(entry, request)) return FORBIDDEN;
  if (!refusesUnknown(entry)) return MAY_GUESS;
  // 3d
  if (entry.catalog === "unreachable") return UNREACHABLE;
  // 3e
  if (request.only !== null) return LACKS;
  if (context.catalog.allKnown && !context.catalog.everListed.has(request.key)) return NEVER_LISTED;
  return UNLISTED;
}

/** Whether workers mean different models by the name, and none has it for its model's own. */
function isAmbiguous({ key }: RoutingRequest, { catalog: { aliases } }: RoutingContext): boolean {
  return aliases.size > 0 && (aliases.get(key)?.length ?? 0) > 1;
}

/** The standing in words, with what the catalogue tells about this worker. */
export function describeStanding(
  standing: Standing,
  entry: WorkerEntry,
  { key, api, held }: RoutingRequest,
  now: number,
): string {
  if (standing === OTHER_API) return `does not serve ${api} with it: ${spokenWords(entry, entry.byKey.get(key))}`;
  if (standing === ASIDE) {
    const aside = entry.asideUntil.get(key);
    const left = aside === undefined ? "" : `, for ${formatDuration(1_000 * Math.ceil((aside.until - now) / 1_000))}`;
    return `${standing.why}: ${aside?.reason ?? "it disowned it"}${left}`;
  }
  if (standing === OTHERS_NAME) return `${standing.why}: ${entry.byAlias.get(key)?.id}`;
  if (standing === OTHER_VARIANT) {
    const model = entry.byKey.get(key);
    if (held === null || model === undefined) return standing.why;
    return `${standing.why}: ${differenceWords(held, model, entry.engine)}`;
  }
  if (standing.set === "breaker-open") {
    const breaker = entry.breakers.get(nameKey(entry.byKey.get(key)?.id ?? key));
    return breaker === undefined
      ? standing.why
      : `${breakerWords(breaker)}, ${trialWords(breaker, now)}: a last resort`;
  }
  const troubled = standing === UNHEALTHY || standing === MISCONFIGURED || standing === UNREACHABLE;
  return troubled && entry.problem !== null ? `${standing.why} (${entry.problem})` : standing.why;
}

function isAsideFor(
  entry: WorkerEntry,
  model: CatalogModel | undefined,
  { key }: RoutingRequest,
  context: RoutingContext,
): boolean {
  const breaker = entry.breakers.get(model === undefined ? key : nameKey(model.id));
  if (breaker === undefined || breaker.openUntil === null) return false;
  return !mayAsk(breaker, context.now) || isAtCap(entry, context);
}

function listedStanding(
  entry: WorkerEntry,
  model: CatalogModel,
  request: RoutingRequest,
  context: RoutingContext,
): Standing {
  // 2a
  if (request.held !== null && isOtherVariant(request.held, model, entry.engine)) return OTHER_VARIANT;
  // 2b
  if (entry.catalog === "unreachable") return UNREACHABLE;
  // 2c
  if (model.state === "failed" && !mayTryAgain(entry, request.key, context.now)) return RETRY_LATER;
  // 2d
  switch (model.state) {
    case "warm":
      return WARM;
    case "unknown":
      return CANNOT_SAY;
    case "loading":
      return LOADING;
    case "cold":
      return context.inflight.pair(entry.config.name, request.key) > 0 ? WAKING : COLD;
    case "failed":
      if (context.inflight.pair(entry.config.name, request.key) > 0) return WAKING;
      return entry.engine === "agent" ? AGENT_FAILED : FAILED;
  }
}

/** An agent keeps a budget of failures itself and refuses at once when it is spent, so it may always be asked. */
function mayTryAgain(entry: WorkerEntry, key: string, now: number): boolean {
  return entry.engine === "agent" || (entry.retryAt?.get(key) ?? Number.NEGATIVE_INFINITY) <= now;
}

/**
 * Whether the owner allows a model that `byKey` does not have. A denied model may be asked for by its worker's other
 * name for it, so what the worker reports under that name counts too.
 */
function ownerAllows(entry: WorkerEntry, request: RoutingRequest): boolean {
  const { allow, deny } = entry.config.models;
  if (deny.length === 0 && allow.includes("*")) return true;
  if (anyGlobMatches(deny, request.name) || !anyGlobMatches(allow, request.name)) return false;
  const reported = entry.report?.models ?? [];
  return !reported.some(
    ({ id, aliases }) => nameKey(id) === request.key || aliases.some((a) => nameKey(a) === request.key),
  );
}

function refusesUnknown(entry: WorkerEntry): boolean {
  return entry.report?.refusesUnknown ?? REFUSES_UNKNOWN[entry.engine ?? entry.config.engine];
}

function inSet(set: RoutingSet, warmth: Warmth, why: string): Standing {
  return { set, rank: RANK[set], warmth, why };
}

function out(why: string): Standing {
  return { set: null, rank: OUT_RANK, warmth: "unlisted", why };
}
