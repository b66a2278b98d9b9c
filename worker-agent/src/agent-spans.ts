import type { IncomingMessage } from "node:http";
import { type Clock, pathOf } from "@farmgate/shared";
import type { TraceSpan, Tracing } from "@farmgate/wire";
import { askedApi } from "./serve/agent-paths.ts";
import type { Served } from "./serve/request-times.ts";

/** So many swaps are remembered, for the requests that waited meanwhile. */
const MOST_SWAPS = 64;

/** Times in milliseconds on the agent's clock. */
interface Swap {
  from: string | null;
  to: string;
  startedAt: number;
  /** null: it is under way. */
  ended: { at: number; ok: boolean } | null;
}

/** One request as those see it who read traces. */
export interface AskedSpan {
  /** For the engine, flat. */
  readonly headers: readonly string[];
  /** `model`: its configured name; null: none was found. */
  ended(model: string | null, served: Served, now: number): void;
}

/** A span for each request, which tells when it was queued, what was swapped while it waited, and when it was sent. */
export class AgentSpans {
  readonly #tracing: Tracing;
  readonly #clock: Clock;
  readonly #swaps: Swap[] = [];

  constructor(tracing: Tracing, clock: Clock) {
    this.#tracing = tracing;
    this.#clock = clock;
  }

  /** Call the result when it has ended. */
  swapStarted(from: string | null, to: string, startedAt: number): (ok: boolean, at: number) => void {
    const swap: Swap = { from, to, startedAt, ended: null };
    this.#swaps.push(swap);
    if (this.#swaps.length > MOST_SWAPS) this.#swaps.shift();
    return (ok, at) => {
      swap.ended = { at, ok };
    };
  }

  /** A request has come. */
  asked(request: IncomingMessage, requestId: string, startedAt: number): AskedSpan {
    // Paths alone that there are: what else a caller may have typed is not told.
    const path = pathOf(request.url ?? "");
    const route = askedApi(path) === null ? null : path;
    const method = request.method ?? "POST";
    const facts = {
      "http.request.method": method,
      "http.route": route,
      "url.path": route,
      "url.scheme": "encrypted" in request.socket ? "https" : "http",
      "farmgate.request.id": requestId,
    };
    const since = this.#clock.wall() - (this.#clock.now() - startedAt);
    const wall = (at: number) => since + at - startedAt;
    const name = route === null ? method : `${method} ${route}`;
    const span = this.#tracing.span({ name, kind: "server", at: since, facts }, request.rawHeaders);
    return {
      headers: span.headers,
      ended: (model, served, now) => {
        if (model !== null) this.#tellWait(span, served, startedAt, now, wall);
        const { status, firstByteMs } = served;
        if (firstByteMs !== null) span.event("first_byte", wall(startedAt + firstByteMs));
        const more = { "gen_ai.request.model": model, "http.response.status_code": status };
        const waited = { "farmgate.waited_ms": served.waitedMs === null ? null : Math.round(served.waitedMs) };
        span.end({ at: wall(now), facts: { ...more, ...waited }, failed: status >= 500 ? String(status) : null });
      },
    };
  }

  #tellWait(span: TraceSpan, { waitedMs }: Served, startedAt: number, now: number, wall: (at: number) => number): void {
    span.event("queued", wall(startedAt));
    const until = waitedMs === null ? now : startedAt + waitedMs;
    for (const { from, to, startedAt: at, ended } of this.#swaps) {
      if (at > until || (ended !== null && ended.at < startedAt)) continue;
      const swap = { "farmgate.swap.from": from, "farmgate.swap.to": to };
      span.event("swap_started", wall(at), swap);
      if (ended !== null && ended.at <= until)
        span.event("swap_ended", wall(ended.at), { ...swap, "farmgate.swap.ok": ended.ok });
    }
    if (waitedMs !== null) span.event("sent", wall(until));
  }
}
