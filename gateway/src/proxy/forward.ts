import { adapterFor } from "@farmgate/engines";
import { FarmError, streamErrorChunk } from "@farmgate/shared";
import { answerError } from "@farmgate/wire";
import { serveJoined } from "../batching/serve-joined.ts";
import { isTaken, type Nothing, type Taken } from "../admission/taken.ts";
import { takeInTurn } from "../admission/take-in-turn.ts";
import { admit } from "../admission/admit.ts";
import { afterOneOf } from "../admission/come-again.ts";
import { drainingError } from "../admission/draining-error.ts";
import { untilReady } from "../admission/until-ready.ts";
import { deadlineError } from "../admission/wait-errors.ts";
import { copyOf } from "../catalog/copy.ts";
import type { Farm } from "../farm.ts";
import { otherVariants } from "../routing/nothing-serves.ts";
import type { RoutingRequest } from "../routing/types.ts";
import { holdTo } from "../routing/variant.ts";
import { speaks } from "../routing/ways.ts";
import type { Translated } from "../translate/translation.ts";
import { withoutUsage } from "../translate/without-usage.ts";
import type { Served } from "./accounts.ts";
import type { Call, Received } from "./call.ts";
import { answerDryRun, isDryRun } from "./dry-run.ts";
import {
  afterFailure,
  asNotRetried,
  type FailedAttempt,
  failureError,
  isNotOfferedThere,
  isRetry,
  isUnknownThere,
  readDrop,
  retryReason,
  triedCopy,
} from "./failure.ts";
import { modelsToTry } from "./models-to-try.ts";
import { receive } from "./receive.ts";
import { RequestSpans } from "./request-spans.ts";
import { routingContext } from "./routing-context.ts";
import { type Sent, sendTo } from "./send.ts";
import { tellCatalog } from "./tell-catalog.ts";
import { closeWay, putAs } from "./put-as.ts";
import { takesComments } from "./wait-comments.ts";

/** Serves one inference request from its arrival to the end of its answer. Never rejects. */
export async function forward(farm: Farm, call: Call): Promise<void> {
  let leaveKey = () => {};
  let served: Served;
  farm.live.enter(call);
  if (farm.tracing !== null) call.spans = new RequestSpans(farm.tracing, call);
  farm.comments.watch();
  farm.silence.watch();
  farm.retries.arrived(farm.clock.now());
  try {
    call.caller = farm.access.identify(call.request);
    leaveKey = enterByKey(farm, call);
    admit(farm, call);
    if (farm.draining) throw drainingError();
    const received = await receive(farm, call);
    call.deadlineAt = received.deadlineAt;
    call.takesComments = takesComments(call, received);
    if (!farm.isReady) await untilReady(farm, call);
    if (isDryRun(call)) served = answerDryRun(farm, call, received);
    else served = await serveJoined(farm, call, received, serveFirstOf);
  } catch (thrown) {
    served = { status: null, error: asFarmError(farm, call, thrown) };
  }
  if (served.status === null && served.error !== null) refuse(call, served.error);
  leaveKey();
  call.leaveKey?.();
  call.share.release();
  farm.live.leave(call);
  const now = farm.clock.now();
  if (call.firstSentAt !== null) farm.drainRate.ended(now, now - call.arrivedAt);
  farm.accounts.add(call, served);
  farm.recorder.ended(call, served);
}

/** Takes what the caller's key has for one more request; the caller is told what is left, also where it has none. */
function enterByKey(farm: Farm, call: Call): () => void {
  const now = farm.clock.now();
  try {
    const elsewhere = farm.hub.isShared ? farm.hub.others.caller(call.callerName) : 0;
    return farm.keys.enter(call.caller, now, (places) => afterOneOf(farm, places), elsewhere);
  } finally {
    call.tellLimit(farm.keys.limitHeaders(call.caller, now));
  }
}

const FALLBACK_CODES: ReadonlySet<string> = new Set(["no_worker", "model_not_found", "load_failed"]);

/** The model that was asked for; then its fallbacks, while nothing can serve those before. */
async function serveFirstOf(farm: Farm, call: Call, received: Received): Promise<Served> {
  let first: Served | null = null;
  for (const request of modelsToTry(farm, call, received)) {
    const served = await serve(farm, call, received, request);
    if (served.status !== null || served.error === null || !FALLBACK_CODES.has(served.error.code)) return served;
    first ??= served;
  }
  return first ?? { status: null, error: null };
}

/** Asks the workers for one model, best first, until one answers or `afterFailure` says that it is over. */
async function serve(farm: Farm, call: Call, received: Received, request: RoutingRequest): Promise<Served> {
  const tried = new Set<string>();
  const history: FailedAttempt[] = [];
  /** Why the question cannot be put in another way, where that was the only one. */
  let refusal: FarmError | null = null;
  call.model = request.name;
  const listed = farm.catalog.current.union.get(request.key);
  if (listed !== undefined) farm.use.asked(listed.key);
  for (;;) {
    if (call.goneError !== null) return { status: null, error: call.goneError };
    if (isLate(farm, received)) return { status: null, error: deadlineError() };
    const taken = await takeInTurn(farm, call, received, request, tried);
    if (!isTaken(taken)) {
      const areUnknown = history.every(isUnknownThere);
      // That workers do not know the model says less than why those that have it cannot be asked.
      if (refusal !== null && areUnknown) return { status: null, error: refusal };
      const isElsewhere = areUnknown && listed !== undefined && taken.code === "model_not_found";
      const isTold = history.length === 0 || isElsewhere;
      return { status: null, error: isTold ? nothingError(farm, taken) : walkError(farm, request, tried, history) };
    }
    const { choice } = taken;
    const { name } = choice.worker.config;
    if (isRetry(history) && !mayRetry(farm)) {
      taken.release();
      return { status: null, error: notRetried(walkError(farm, request, tried, history), farm) };
    }
    tried.add(name);
    const put = putOrLeave(farm, call, received, taken);
    if (put instanceof FarmError) {
      refusal ??= put;
      closeWay(request, choice, tried, farm.clock.now());
      continue;
    }
    const end = await ask(farm, call, received, request, taken, put, history);
    if (end.kind === "relayed") return { status: end.status, error: end.error };
    if (end.kind === "cancelled") return { status: null, error: call.goneError };
    if (isNotOfferedThere(end.failed)) closeWay(request, choice, tried, farm.clock.now());
    if (!isLate(farm, received) && afterFailure(history, true, farm.config.retry).step === "final") {
      return { status: null, error: walkError(farm, request, tried, history) };
    }
  }
}

/** The place that was just taken is not counted. */
function mayRetry({ retries, inflight, config, clock }: Farm): boolean {
  return retries.take(config.retry.budget, inflight.ownTotal() - 1, clock.now());
}

/** The farm is sick enough: no further worker is asked. */
function notRetried(failure: FarmError, { retries, metrics, clock }: Farm): FarmError {
  metrics.retryRefused();
  return asNotRetried(failure, retries.roomInS(clock.now()));
}

/** As `putAs`; where the question cannot be put so, the place at that worker is free again. */
function putOrLeave(farm: Farm, call: Call, received: Received, taken: Taken): Translated | FarmError | null {
  let isPut = false;
  try {
    const put = putAs(farm, call, received, taken.choice);
    isPut = !(put instanceof FarmError);
    return put;
  } finally {
    if (!isPut) taken.release();
  }
}

function isLate(farm: Farm, { deadlineAt }: Received): boolean {
  return deadlineAt !== null && farm.clock.now() >= deadlineAt;
}

/** Asks one worker; when it refused what was asked for besides, once more without that. */
async function ask(
  farm: Farm,
  call: Call,
  received: Received,
  request: RoutingRequest,
  taken: Taken,
  put: Translated | null,
  history: FailedAttempt[],
): Promise<Sent> {
  const { choice } = taken;
  call.worker = choice.worker.config.name;
  call.warmth = choice.warmth;
  call.attempts += 1;
  try {
    let end = await askOnce(farm, call, received, request, choice, put, history);
    const plainer = withoutUsage(put, faultStatus(end));
    if (plainer !== null) {
      farm.metrics.retried("usage_refused");
      end = await askOnce(farm, call, received, request, choice, plainer, history);
    }
    if (end.kind !== "failed") return end;
    return noteFailure(farm, call, received, choice, end, history);
  } finally {
    taken.release();
  }
}

/** The status of an answer that was the worker's fault; null: there was none. */
function faultStatus(end: Sent): number | null {
  if (end.kind !== "failed" || end.failed.by !== "answer") return null;
  return end.failed.meaning === "worker_fault" ? end.failed.status : null;
}

/** When the connection had gone stale, once more on a fresh one. */
async function askOnce(
  farm: Farm,
  call: Call,
  received: Received,
  request: RoutingRequest,
  choice: Taken["choice"],
  put: Translated | null,
  history: readonly FailedAttempt[],
): Promise<Sent> {
  const { config } = choice.worker;
  const end = await sendTo(farm, call, received, choice, put, farm.upstreams.to(config));
  if (end.kind !== "failed") return end;
  // It may have been at work on it when its connection broke, whatever the second try tells.
  hold(request, choice, end.failed);
  if (afterFailure([...history, end.failed], false, farm.config.retry).step !== "fresh") return end;
  farm.metrics.retried("stale_connection");
  const fresh = farm.upstreams.fresh(config);
  const again = await sendTo(farm, call, received, choice, put, fresh);
  void fresh.pool.close();
  if (again.kind === "failed") hold(request, choice, again.failed);
  return again;
}

/** From now on no other variant is to answer it. */
function hold(request: RoutingRequest, { model, worker }: Taken["choice"], failed: FailedAttempt): void {
  if (model !== null && triedCopy(failed)) request.held = holdTo(request.held, copyOf(model, worker.engine));
}

function noteFailure(
  farm: Farm,
  call: Call,
  received: Received,
  choice: Taken["choice"],
  end: Extract<Sent, { kind: "failed" }>,
  history: FailedAttempt[],
): Sent {
  const { engine } = choice.worker;
  const failed = readDrop(end.failed, engine !== null && adapterFor(engine).dropsBadRequests);
  history.push(failed);
  farm.metrics.retried(retryReason(failed));
  tellCatalog(farm, call, choice, failed, isLate(farm, received));
  return { ...end, failed };
}

function refuse({ response, family, id, ownHeaders, opened }: Call, error: FarmError): void {
  if (error.code === "client_closed") response.destroy();
  else if (opened) response.end(streamErrorChunk(family, error, id, true));
  // The gateway failed in the middle of an answer: the caller sees that it is cut off.
  else if (response.headersSent) response.destroy();
  else answerError(response, error, { family, requestId: id, headers: ownHeaders });
}

function asFarmError(farm: Farm, call: Call, thrown: unknown): FarmError {
  if (call.goneError !== null) return call.goneError;
  if (thrown instanceof FarmError) return thrown;
  farm.log.error({ id: call.id, err: thrown }, "a request failed inside the gateway");
  return new FarmError("internal", "The gateway failed on this request; its log says more.");
}

/** No worker was asked. One that is away may be back after its next poll. */
function nothingError(farm: Farm, { code, message }: Nothing): FarmError {
  if (code === "model_not_found") return new FarmError(code, message, { param: "model" });
  return new FarmError(code, message, { retryAfterS: farm.config.health.interval / 1_000 });
}

function walkError(
  farm: Farm,
  request: RoutingRequest,
  tried: ReadonlySet<string>,
  history: FailedAttempt[],
): FarmError {
  const elsewhere = farm.catalog.current.workers.some((entry) => {
    const model = tried.has(entry.config.name) ? undefined : entry.byKey.get(request.key);
    return model !== undefined && request.ways.some((api) => speaks(entry, model, api));
  });
  return failureError(request.name, history, elsewhere, otherVariants(request, routingContext(farm, 0)));
}
