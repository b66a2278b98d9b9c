import { type Clock, type GetAnswer, headerValue } from "@farmgate/shared";
import type { Dispatcher } from "undici";
import { Exchange } from "./exchange.ts";
import type { ExchangeFailure } from "./exchange-failure.ts";
import { GatheredBytes } from "./gathered-bytes.ts";

/** A catalogue beyond this size is none: 10,000 models take about 4 MB. */
const MAX_BODY = 8 * 1024 * 1024;
const STOPPED = "the poll was stopped";

export interface GetTarget {
  /** The worker's address, a path prefix included. */
  url: string;
  apiKey: string | null;
}

/**
 * One GET with everything bounded: `timeoutMs` for the whole, 8 MB for the body, no redirect followed, a connection
 * of its own (which also tells whether the worker still accepts any). `stop` ends it early, as silent or broken.
 */
export function pollGet(
  dispatcher: Dispatcher,
  clock: Clock,
  target: GetTarget,
  path: string,
  timeoutMs: number,
  stop: AbortSignal,
): Promise<GetAnswer> {
  if (stop.aborted) return Promise.resolve({ kind: "silent", refused: false, reason: STOPPED });
  const url = new URL(target.url);
  const headers = ["host", url.host, "accept", "application/json", "connection", "close"];
  if (target.apiKey !== null) headers.push("authorization", `Bearer ${target.apiKey}`);
  const fullPath = url.pathname.replace(/\/+$/, "") + path;

  return new Promise((resolve) => {
    const body = new GatheredBytes();
    let head: { status: number; server: string } | null = null;
    let cut = "";
    let stopTimer = () => {};
    const cancel = (reason: string) => {
      cut = reason;
      exchange.cancel();
    };
    const onStop = () => cancel(STOPPED);
    const exchange = new Exchange(
      dispatcher,
      { origin: url.origin, method: "GET", path: fullPath, headers, body: null },
      { firstByteMs: timeoutMs, idleMs: timeoutMs },
      clock,
      {
        head(status, rawHeaders) {
          head = { status, server: headerValue(rawHeaders, "server") ?? "" };
        },
        data(chunk) {
          body.add(chunk);
          if (body.length > MAX_BODY) cancel("the answer is over 8 MB");
          return true;
        },
        end(outcome) {
          stopTimer();
          stop.removeEventListener("abort", onStop);
          if (outcome.ok && head !== null) {
            resolve({ kind: "answer", ...head, body: body.bytes().toString("utf8") });
          } else {
            resolve(unanswered(head?.status ?? null, outcome.ok ? null : outcome.failure, cut, timeoutMs));
          }
        },
      },
    );
    // The exchange watches the silences; a body that trickles needs an end as well.
    stopTimer = clock.after(timeoutMs, () => cancel(""));
    stop.addEventListener("abort", onStop);
  });
}

function unanswered(status: number | null, failure: ExchangeFailure | null, cut: string, timeoutMs: number): GetAnswer {
  const slow = failure?.kind === "timeout" || (failure?.kind === "cancelled" && cut === "");
  if (status !== null) {
    const reason = slow ? `the answer was not complete after ${timeoutMs} ms` : cut || "the answer broke off";
    return { kind: "broken", status, reason };
  }
  if (failure?.kind === "refused") return { kind: "silent", refused: true, reason: "connection refused" };
  const reason = slow ? `no answer within ${timeoutMs} ms` : cut || (failure?.message ?? "no answer");
  return { kind: "silent", refused: false, reason };
}
