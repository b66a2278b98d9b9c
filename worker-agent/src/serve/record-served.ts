import { type Clock, pathOf } from "@farmgate/shared";
import type { Log } from "@farmgate/wire";
import type { AskedSpan } from "../agent-spans.ts";
import type { Learned } from "../figures/learned.ts";
import type { AgentMetrics } from "../metrics.ts";
import type { ServedModel } from "../served-model.ts";
import type { Served } from "./request-times.ts";

/** A request that has ended; what was not known of it by then is "" or null. */
export interface Ended {
  requestId: string;
  caller: string;
  model: ServedModel | null;
  /** In milliseconds, by the agent's clock. */
  startedAt: number;
  path: string | undefined;
  span: AskedSpan | null;
}

export interface RecordDeps {
  clock: Clock;
  learned: Learned;
  metrics: AgentMetrics;
  log: Log;
}

/** Into the metrics, the traces, what is learned of the model, and the log. */
export function recordServed(asked: Ended, served: Served, { clock, learned, metrics, log }: RecordDeps): void {
  const model = asked.model?.name ?? null;
  const ms = clock.now() - asked.startedAt;
  // Who left while it waited has waited until now.
  metrics.served(model, served.status, model === null ? null : (served.waitedMs ?? ms));
  asked.span?.ended(model, served, clock.now());
  const { answer } = served;
  if (model !== null && answer !== null) learned.answered(model, { ...answer, ok: served.status === 200 });
  const line = {
    request_id: asked.requestId,
    path: pathOf(asked.path ?? "").slice(0, 500),
    model,
    caller: asked.caller,
    status: served.status,
    waited_ms: rounded(served.waitedMs),
    first_byte_ms: rounded(served.firstByteMs),
    ms: rounded(ms),
    ...(served.error === null ? {} : { error: served.error }),
  };
  log.info(line, served.error === null ? "answered" : "not answered");
}

function rounded(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms);
}
