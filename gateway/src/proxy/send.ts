import { FarmError, nameKey, replaceModel } from "@farmgate/shared";
import type { ExchangeFailure } from "@farmgate/wire";
import { adapterFor } from "../adapters/adapter-for.ts";
import type { Farm } from "../farm.ts";
import type { Choice } from "../routing/types.ts";
import { Attempt, type AttemptEnd, type AttemptTarget } from "./attempt.ts";
import type { Call, Received } from "./call.ts";
import { answerHeaders, upstreamHeaders } from "./headers.ts";
import { Relay } from "./relay.ts";
import type { Upstream } from "./upstreams.ts";

/** Sends the request to one worker and passes its answer on; resolves once that has ended, and never rejects. */
export function sendTo(farm: Farm, call: Call, received: Received, choice: Choice, upstream: Upstream): Promise<AttemptEnd> {
  const { config, engine } = choice.worker;
  const now = farm.clock.now();
  const { firstByte, idle } = farm.config.timeouts;
  const deadlineLeftMs = received.deadlineAt === null ? null : Math.max(0, received.deadlineAt - now);
  const request = {
    origin: upstream.origin,
    method: "POST",
    path: upstream.prefix + (call.request.url ?? "/"),
    headers: upstreamHeaders(call.request.rawHeaders, {
      agent: engine === "agent",
      apiKey: config.apiKey,
      requestId: call.id,
      caller: call.callerName,
      priority: received.priority,
      deadlineLeftMs,
      hops: received.hops,
    }),
    body: replaceModel(received.body, received.scan, choice.upstreamModel),
  };
  const timeouts = { firstByteMs: Math.min(firstByte, deadlineLeftMs ?? firstByte), idleMs: idle };
  call.firstSentAt ??= now;
  call.phase = "asking";
  return new Promise((resolve) => {
    let attempt: Attempt | null = null;
    const relay = new Relay(call.response, call.tap, () => attempt?.resume());
    const done = (end: AttemptEnd) => {
      call.onGone(null);
      if (end.kind === "relayed") finish(call, relay, end.broke);
      resolve(end);
    };
    attempt = new Attempt(upstream.pool, request, timeouts, farm.clock, target(farm, call, choice, relay), done);
    const started = attempt;
    call.onGone(() => started.cancel());
  });
}

function target(farm: Farm, call: Call, choice: Choice, relay: Relay): AttemptTarget {
  const worker = choice.worker.config.name;
  return {
    worker,
    meaning: (answer) => adapterFor(choice.worker.engine ?? "openai").meaning(answer),
    accept(status, rawHeaders) {
      call.received = null;
      call.phase = "answering";
      call.firstByteAt = farm.clock.now();
      const { id: requestId, attempts } = call;
      const origin = { requestId, worker, model: choice.upstreamModel, warmth: choice.warmth, attempts };
      relay.start(status, answerHeaders(rawHeaders, origin, call.cors));
      if (status < 300) farm.answered(worker, nameKey(choice.upstreamModel));
    },
    write: (chunk) => relay.write(chunk),
  };
}

function finish(call: Call, relay: Relay, broke: ExchangeFailure | null): void {
  if (broke === null) relay.finish();
  else relay.break(call.family, call.goneError ?? brokenError(call.worker ?? "", broke), call.id);
}

/** What a caller is told of an answer that broke after it had begun. */
export function brokenError(worker: string, broke: ExchangeFailure): FarmError {
  return broke.kind === "timeout"
    ? new FarmError("timeout_idle", `Worker "${worker}" stopped sending in the middle of its answer.`)
    : new FarmError("worker_failed", `Worker "${worker}" broke off in the middle of its answer (${broke.message}).`);
}
