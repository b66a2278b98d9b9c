import { type FarmError, nameKey } from "@farmgate/shared";
import type { Farm } from "../farm.ts";
import type { Call } from "./call.ts";

/** How a request ended. `status` is that of an answer that was passed on; it may have broken with `error`. */
export interface Served {
  status: number | null;
  error: FarmError | null;
}

/** Metrics and the log line of a request that has ended: once for each, and nothing of what was said in it. */
export function account(farm: Farm, call: Call, { status, error }: Served): void {
  const endedAt = farm.clock.now();
  const told = error?.status ?? status ?? 500;
  const model = farm.catalog.current.union.get(nameKey(call.model))?.id ?? "other";
  const ttftMs = call.firstByteAt === null ? null : call.firstByteAt - call.arrivedAt;
  farm.metrics.ended({
    api: call.api,
    model,
    worker: call.worker,
    warmth: call.warmth,
    status: told,
    seconds: (endedAt - call.arrivedAt) / 1_000,
    ttftSeconds: ttftMs === null ? null : ttftMs / 1_000,
    overheadSeconds: call.firstSentAt === null ? null : overheadMs(call, call.firstSentAt) / 1_000,
  });
  const usage = status === 200 ? call.tap.usage() : null;
  if (usage !== null && call.worker !== null) farm.metrics.used(model, call.worker, usage);
  if (call.worker !== null && isCutShort(call, status, error)) farm.metrics.truncated(call.worker);
  farm.log.info(
    {
      id: call.id,
      caller: call.callerName,
      api: call.api,
      model: call.model.slice(0, 200),
      worker: call.worker,
      warmth: call.warmth,
      status: told,
      ...(error === null ? {} : { code: error.code, reason: error.message }),
      attempts: call.attempts,
      ms: Math.round(endedAt - call.arrivedAt),
      ttftMs: ttftMs === null ? null : Math.round(ttftMs),
      waitedMs: Math.round(call.waitedMs),
      tokens: usage,
    },
    "request",
  );
}

function overheadMs(call: Call, sentAt: number): number {
  return Math.max(0, sentAt - (call.receivedAt ?? call.arrivedAt) - call.waitedMs);
}

/** A stream that broke, or that ended without the mark with which its API ends streams. */
function isCutShort(call: Call, status: number | null, error: FarmError | null): boolean {
  if (status !== 200 || !call.tap.eventStream) return false;
  if (error !== null) return call.goneError === null;
  return (call.api === "chat" || call.api === "completions") && !call.tap.sawDone();
}
