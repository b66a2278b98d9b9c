import { type Api, type Clock, type FarmError, nameKey } from "@farmgate/shared";
import type { Log } from "@farmgate/wire";
import type { Catalog } from "../catalog/types.ts";
import type { Metrics } from "../metrics.ts";
import type { UncountedFigures } from "../placement/live/request-figures.ts";
import type { Warmth, Weighed } from "../routing/types.ts";
import type { SharedUse } from "../together/shared-use.ts";
import type { Call } from "./call.ts";
import type { RequestSpans } from "./request-spans.ts";
import type { UsageTap } from "./usage-tap.ts";

/** How a request ended. `status` is that of an answer that was passed on; it may have broken with `error`. */
export interface Served {
  status: number | null;
  error: FarmError | null;
}

/** A request that has ended, as far as its account needs it. Times in milliseconds. */
interface Ended extends Served {
  id: string;
  caller: string;
  api: Api;
  model: string;
  worker: string | null;
  warmth: Warmth | null;
  attempts: number;
  ms: number;
  ttftMs: number | null;
  overheadMs: number | null;
  waitedMs: number;
  /** Since the worker of the last try was asked; null: none was. */
  askedMs: number | null;
  weighed: Weighed | null;
  /** Nobody wanted the answer any more. */
  gone: boolean;
  joinedAs: string | null;
  tap: UsageTap;
  /** With when it ended, on the clock of `now`; null: traces are off. */
  traced: { spans: RequestSpans; at: number } | null;
  /** For placement; null: it is off. */
  figures: UncountedFigures | null;
}

/** An account waits for others at most this long, in milliseconds; few of them, since what waits costs the collector. */
const SETTLE_MS = 50;
const SETTLE_COUNT = 16;

export interface AccountsDeps {
  clock: Clock;
  log: Log;
  metrics: Metrics;
  catalog: () => Catalog;
  placement: Pick<SharedUse, "figuresOf" | "ended">;
}

/**
 * Metrics and the log line of requests that have ended: once for each, and nothing of what was said in them. They
 * are written several at a time, which takes a third of what it takes between two pieces of somebody's answer.
 */
export class Accounts {
  readonly #deps: AccountsDeps;
  #pending: Ended[] = [];
  #stopTimer: (() => void) | null = null;

  constructor(deps: AccountsDeps) {
    this.#deps = deps;
  }

  add(call: Call, served: Served): void {
    const { status, error } = served;
    const { arrivedAt, firstByteAt, firstSentAt, receivedAt, askedAt, waitedMs } = call;
    const now = this.#deps.clock.now();
    this.#pending.push({
      status,
      error,
      id: call.id,
      caller: call.callerName,
      api: call.api,
      model: call.model,
      worker: call.worker,
      warmth: call.warmth,
      attempts: call.attempts,
      ms: now - arrivedAt,
      ttftMs: firstByteAt === null ? null : firstByteAt - arrivedAt,
      overheadMs: firstSentAt === null ? null : Math.max(0, firstSentAt - (receivedAt ?? arrivedAt) - waitedMs),
      waitedMs,
      askedMs: askedAt === null ? null : now - askedAt,
      weighed: call.weighed,
      gone: call.goneError !== null,
      joinedAs: call.joinedAs,
      tap: call.tap,
      traced: call.spans === null ? null : { spans: call.spans, at: now },
      figures: this.#deps.placement.figuresOf(call, served),
    });
    if (this.#pending.length >= SETTLE_COUNT) this.settle();
    else this.#stopTimer ??= this.#deps.clock.after(SETTLE_MS, () => this.settle());
  }

  /** Writes what has not been written yet. */
  settle(): void {
    this.#stopTimer?.();
    this.#stopTimer = null;
    for (const ended of this.#pending.splice(0)) this.#write(ended);
  }

  #write(ended: Ended): void {
    const { metrics, log, catalog, placement } = this.#deps;
    const { worker, error, ttftMs, overheadMs, api, warmth, weighed } = ended;
    const status = error?.status ?? ended.status ?? 500;
    const { union, workers } = catalog();
    const listed = union.get(nameKey(ended.model));
    const model = listed?.id ?? "other";
    // An answer may outlive the place of its worker in the file.
    const isKept = worker === null || workers.some(({ config }) => config.name === worker);
    const by = isKept ? worker : "other";
    const ttftSeconds = ttftMs === null ? null : ttftMs / 1_000;
    const overheadSeconds = overheadMs === null ? null : overheadMs / 1_000;
    metrics.ended({
      api,
      model,
      worker: by,
      warmth,
      status,
      seconds: ended.ms / 1_000,
      ttftSeconds,
      overheadSeconds,
      waitedSeconds: ended.waitedMs / 1_000,
      askedSeconds: ended.askedMs === null ? null : ended.askedMs / 1_000,
    });
    // A worker's 429 is passed on with no error of ours.
    if (error?.code === "rate_limited") metrics.keyLimited(ended.caller);
    const usage = ended.status === 200 ? ended.tap.usage() : null;
    if (usage !== null && by !== null) metrics.used(model, by, usage);
    if (listed !== undefined && ended.figures !== null) placement.ended(listed.key, ended.figures, usage);
    if (by !== null && isCutShort(ended)) metrics.truncated(by);
    ended.traced?.spans.ended({ status, error, usage, at: ended.traced.at });
    // What is undefined is left out: a line says only what is worth saying, and costs by its fields.
    log.info(
      {
        id: ended.id,
        caller: ended.caller || undefined,
        api,
        model: ended.model.slice(0, 200),
        worker: worker ?? undefined,
        warmth: warmth ?? undefined,
        joinedAs: ended.joinedAs ?? undefined,
        status,
        code: error?.code,
        reason: error?.logged,
        attempts: ended.attempts === 1 ? undefined : ended.attempts,
        ms: Math.round(ended.ms),
        ttftMs: ttftMs === null ? undefined : Math.round(ttftMs),
        waitedMs: Math.round(ended.waitedMs) || undefined,
        decision: weighed?.decision,
        waitMs: weighed === null ? undefined : Math.round(weighed.waitMs),
        swapMs: weighed === null ? undefined : Math.round(weighed.swapMs),
        promptTokens: usage?.prompt ?? undefined,
        completionTokens: usage?.completion ?? undefined,
      },
      "request",
    );
  }
}

/** A stream that broke, or that ended without the mark with which its API ends streams. */
function isCutShort({ api, status, error, gone, tap }: Ended): boolean {
  if (status !== 200 || !tap.streamed) return false;
  if (error !== null) return !gone;
  return !tap.sawEnd(api);
}
