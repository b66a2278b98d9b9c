import type { Clock } from "@farmgate/shared";
import type { Dispatcher } from "undici";
import { Exchange, type ExchangeRequest } from "./exchange.ts";
import type { ExchangeFailure } from "./exchange-failure.ts";
import { GatheredBytes } from "./gathered-bytes.ts";

export interface WholeLimits {
  /** For all of it, in milliseconds. */
  ms: number;
  /** Of the body. */
  bytes: number;
}

/** What a bounded request brought. */
export interface WholeAnswer {
  /** null: no status line came. */
  head: { status: number; rawHeaders: string[] } | null;
  /** As far as it came. */
  body: Buffer;
  /** Why it is not whole; null: it is. */
  cut: "slow" | "large" | "stopped" | ExchangeFailure | null;
}

/** Asks for an answer that is read as a whole, within limits. `stop` ends it early. Never rejects. */
export function wholeAnswer(
  dispatcher: Dispatcher,
  clock: Clock,
  request: ExchangeRequest,
  { ms, bytes }: WholeLimits,
  stop: AbortSignal,
): Promise<WholeAnswer> {
  return new Promise((resolve) => {
    const body = new GatheredBytes();
    let head: WholeAnswer["head"] = null;
    let cut: WholeAnswer["cut"] = null;
    let isOver = false;
    let stopTimer = () => {};
    const end = (why: "slow" | "large" | "stopped") => {
      cut ??= why;
      exchange.cancel();
    };
    const onStop = () => end("stopped");
    const exchange = new Exchange(dispatcher, request, { firstByteMs: ms, idleMs: ms }, clock, {
      head(status, rawHeaders) {
        head = { status, rawHeaders };
      },
      data(chunk) {
        body.add(chunk);
        if (body.length > bytes) end("large");
        return true;
      },
      end(outcome) {
        isOver = true;
        stopTimer();
        stop.removeEventListener("abort", onStop);
        if (!outcome.ok) cut ??= outcome.failure.kind === "timeout" ? "slow" : outcome.failure;
        resolve({ head, body: body.bytes(), cut });
      },
    });
    // A request that no client takes has ended by now.
    if (isOver) return;
    // The exchange watches the silences; a body that trickles needs an end as well.
    stopTimer = clock.after(ms, () => end("slow"));
    stop.addEventListener("abort", onStop, { once: true });
    if (stop.aborted) onStop();
  });
}
