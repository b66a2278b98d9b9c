import { FarmError, isEventStream, replaceModel } from "@farmgate/shared";
import { AnswerRelay, type ExchangeFailure, type ExchangeRequest, type Upstream } from "@farmgate/wire";
import { meaningFrom } from "@farmgate/engines";
import type { Farm } from "../farm.ts";
import type { Choice } from "../routing/types.ts";
import { Attempt, type AttemptEnd, type AttemptTarget } from "./attempt.ts";
import type { Call, Received } from "./call.ts";
import { answerHeaders, upstreamHeaders } from "./headers.ts";
import { tellAnswered, tellEnded } from "./tell-catalog.ts";

/** How it went: an answer that was passed on, up to its end or to where it broke; or no byte was. */
export type Sent =
  | { kind: "relayed"; status: number; error: FarmError | null }
  | Exclude<AttemptEnd, { kind: "relayed" }>;

/** Sends the request to one worker and passes its answer on; resolves once that has ended, and never rejects. */
export function sendTo(farm: Farm, call: Call, received: Received, choice: Choice, upstream: Upstream): Promise<Sent> {
  const now = farm.clock.now();
  const { firstByte, idle } = farm.config.timeouts;
  const timeouts = { firstByteMs: Math.min(firstByte, deadlineLeft(received, now) ?? firstByte), idleMs: idle };
  call.firstSentAt ??= now;
  call.askedAt = now;
  call.phase = "asking";
  call.upstreamModel = choice.upstreamModel;
  return new Promise((resolve) => {
    let attempt: Attempt | null = null;
    const relay = new AnswerRelay(call.response, call.tap, () => attempt?.resume());
    const done = (end: AttemptEnd) => {
      call.onGone(null);
      resolve(end.kind === "relayed" ? finish(farm, call, relay, end) : end);
    };
    // Made here and held nowhere: what the functions above could reach would stay until the answer's end.
    const request = toRequest(farm, call, received, choice, upstream, deadlineLeft(received, now));
    const side = callerSide(farm, call, received, choice, relay);
    attempt = new Attempt(upstream.pool, request, timeouts, farm.clock, side, done);
    const started = attempt;
    call.attempt = started;
    call.onGone(() => started.cancel());
  });
}

function deadlineLeft({ deadlineAt }: Received, now: number): number | null {
  return deadlineAt === null ? null : Math.max(0, deadlineAt - now);
}

function toRequest(
  farm: Farm,
  call: Call,
  received: Received,
  { worker, upstreamModel }: Choice,
  upstream: Upstream,
  deadlineLeftMs: number | null,
): ExchangeRequest {
  const headers = upstreamHeaders(call.request.rawHeaders, {
    agent: worker.engine === "agent",
    apiKey: worker.config.apiKey,
    requestId: call.id,
    caller: call.callerName,
    priority: received.priority,
    deadlineLeftMs,
    hops: received.hops,
    mark: farm.mark,
  });
  const body = replaceModel(received.body, received.scan, upstreamModel);
  return { origin: upstream.origin, method: "POST", path: upstream.prefix + (call.request.url ?? "/"), headers, body };
}

const EMPTY = Buffer.alloc(0);

function callerSide(farm: Farm, call: Call, received: Received, choice: Choice, relay: AnswerRelay): AttemptTarget {
  const worker = choice.worker.config.name;
  return {
    worker,
    meaning: (answer) => meaningFrom(choice.worker.engine, answer),
    accept(status, rawHeaders) {
      received.body = EMPTY;
      call.share.release();
      call.phase = "answering";
      call.firstByteAt = farm.clock.now();
      const { id: requestId, attempts } = call;
      const origin = { requestId, worker, model: choice.upstreamModel, warmth: choice.warmth, attempts };
      relay.start(status, answerHeaders(rawHeaders, origin, call.cors));
      call.tap.eventStream = isEventStream(rawHeaders);
      if (status >= 300) return;
      tellAnswered(farm, call);
      if (call.prefix !== null) farm.affinity.answered(call.prefix, worker);
    },
    write: (chunk) => relay.write(chunk),
  };
}

function finish(
  farm: Farm,
  call: Call,
  relay: AnswerRelay,
  { status, broke }: Extract<AttemptEnd, { kind: "relayed" }>,
): Sent {
  if (status < 300) tellAnswered(farm, call);
  if (status < 300 && broke === null) tellEnded(farm, call, "whole");
  if (status < 300 && broke?.kind === "timeout" && call.goneError === null) tellEnded(farm, call, "stalled");
  if (broke === null) {
    relay.finish();
    return { kind: "relayed", status, error: null };
  }
  const error = call.goneError ?? brokenError(call.worker ?? "", broke);
  relay.break(call.family, error, call.id);
  return { kind: "relayed", status, error };
}

/** What a caller is told of an answer that broke after it had begun. */
function brokenError(worker: string, broke: ExchangeFailure): FarmError {
  return broke.kind === "timeout"
    ? new FarmError("timeout_idle", `Worker "${worker}" stopped sending in the middle of its answer.`)
    : new FarmError("worker_failed", `Worker "${worker}" broke off in the middle of its answer (${broke.message}).`);
}
