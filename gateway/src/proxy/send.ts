import {
  apiForm,
  isStreamed,
  FarmError,
  queryModel,
  replaceModel,
  replaceQueryModel,
  socketHeadersForWorker,
  withoutKeys,
} from "@farmgate/shared";
import { type ExchangeRequest, type ExchangeTimeouts, type Upstream, withTraceHeaders } from "@farmgate/wire";
import type { Farm } from "../farm.ts";
import type { Choice } from "../routing/types.ts";
import type { Translated } from "../translate/translation.ts";
import { Attempt, type AttemptEnd } from "./attempt.ts";
import type { Call, Received } from "./call.ts";
import { CallerSide, type Relayed } from "./caller-side.ts";
import type { TrySpan } from "./request-spans.ts";
import { translatedHeaders, upstreamHeaders } from "./headers.ts";

/** How it went: an answer that was passed on, up to its end or to where it broke; or no byte was. */
export type Sent = Relayed | Exclude<AttemptEnd, { kind: "relayed" | "thrown" }>;

/**
 * Sends the request to one worker and passes its answer on; resolves once that has ended. Rejects with the FarmError of
 * a request that cannot be sent so, and with what the gateway itself failed by.
 */
export function sendTo(
  farm: Farm,
  call: Call,
  received: Received,
  choice: Choice,
  translated: Translated | null,
  upstream: Upstream,
): Promise<Sent> {
  const now = farm.clock.now();
  call.firstSentAt ??= now;
  call.askedAt = now;
  call.phase = "asking";
  call.upstreamModel = choice.upstreamModel;
  return new Promise((resolve, reject) => {
    let attempt: Attempt | null = null;
    let span: TrySpan | null = null;
    const relay = call.relay(() => attempt?.resume());
    const side = new CallerSide(farm, call, received, choice, translated, relay);
    const done = (end: AttemptEnd) => {
      call.onGone(null);
      span?.ended(end, farm.clock.now());
      if (end.kind === "thrown") reject(end.thrown);
      else resolve(end.kind === "relayed" ? side.finish(end) : end);
    };
    // Made here and held nowhere: what the functions above could reach would stay until the answer's end.
    const request = toRequest(farm, call, received, choice, translated, upstream, deadlineLeft(received, now));
    const streamed = isStreamed(call.api, received.scan.stream);
    span = call.spans?.tried(choice, now, streamed) ?? null;
    if (span !== null) request.headers = withTraceHeaders(request.headers, span.headers);
    call.sent = { api: choice.api, streamed, bytes: request.body?.length ?? 0 };
    const timeouts = timeoutsFor(farm, choice, deadlineLeft(received, now));
    attempt = new Attempt(upstream.pool, request, timeouts, farm.clock, side, done);
    const started = attempt;
    call.attempt = started;
    call.onGone((why) => {
      if (why.code !== "client_closed") return started.cancel();
      const { bytes, time: ms } = choice.worker.config.drainOnAbort;
      side.letGoOfBody();
      started.abandon({ bytes, ms });
    });
  });
}

function deadlineLeft({ deadlineAt }: Received, now: number): number | null {
  return deadlineAt === null ? null : Math.max(0, deadlineAt - now);
}

/** An agent tells while a request waits in its queue, and that wait is no silence; an engine's own word is not taken. */
function timeoutsFor({ config }: Farm, { worker }: Choice, deadlineMs: number | null): ExchangeTimeouts {
  const { firstByte: firstByteMs, idle: idleMs } = config.timeouts;
  return { firstByteMs, deadlineMs, idleMs, restartOnProcessing: worker.engine === "agent" };
}

function toRequest(
  farm: Farm,
  call: Call,
  received: Received,
  { worker, upstreamModel, api }: Choice,
  translated: Translated | null,
  upstream: Upstream,
  deadlineLeftMs: number | null,
): ExchangeRequest {
  const identity = {
    agent: worker.engine === "agent",
    apiKey: worker.config.apiKey,
    requestId: call.id,
    caller: call.callerName,
    priority: received.priority,
    deadlineLeftMs,
    hops: received.hops,
    mark: farm.mark,
  };
  const { origin, prefix } = upstream;
  const target = withoutKeys(call.request.url ?? "/");
  if (call.socket !== null) {
    const path = prefix + replaceQueryModel(target, queryModel(target), upstreamModel);
    const headers = upstreamHeaders(socketHeadersForWorker(call.rawHeaders), identity);
    return { origin, method: "GET", path, headers, body: null, upgrade: "websocket" };
  }
  const raw = translated === null ? call.rawHeaders : translatedHeaders(call.rawHeaders);
  const headers = upstreamHeaders(raw, identity);
  const path = prefix + (api === call.api ? target : apiForm(api).path);
  const body =
    translated === null ? replaceModel(received.body, received.scan, upstreamModel) : writtenBody(translated);
  return { origin, method: "POST", path, headers, body };
}

/** What a request holds as text, the arguments of a call, can be nested deeper than the request itself. */
function writtenBody({ body }: Translated): Buffer {
  try {
    return Buffer.from(JSON.stringify(body));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new FarmError("invalid_request", "The request is nested too deeply for the workers with this model.");
  }
}
