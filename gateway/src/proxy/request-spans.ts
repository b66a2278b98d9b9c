import { type Api, apiForm, type FarmError } from "@farmgate/shared";
import type { TraceSpan, Tracing } from "@farmgate/wire";
import type { Choice } from "../routing/types.ts";
import type { AttemptEnd } from "./attempt.ts";
import type { Call } from "./call.ts";
import type { FailedAttempt } from "./failure.ts";
import type { Usage } from "./usage-tap.ts";

/** One try, as it is seen by those who read traces. */
export interface TrySpan {
  /** For the worker, flat. */
  readonly headers: readonly string[];
  ended(end: AttemptEnd, now: number): void;
}

/** How the whole request ended. */
export interface SpansEnd {
  status: number;
  error: FarmError | null;
  /** As far as the engine counted them. */
  usage: Usage | null;
  /** Of the clock of `now`. */
  at: number;
}

/** The spans of one request: its own, and one for each try at a worker. Nothing in them was said in the request. */
export class RequestSpans {
  readonly #call: Call;
  readonly #span: TraceSpan;
  #tries = 0;
  /** Ends the try that was passed on, once it is known what it took. */
  #endAnswered: ((usage: Usage | null) => void) | null = null;

  constructor(tracing: Tracing, call: Call) {
    this.#call = call;
    const { path } = apiForm(call.api);
    const method = call.request.method ?? "POST";
    const facts = {
      "http.request.method": method,
      "http.route": path,
      "url.path": path,
      "url.scheme": "encrypted" in call.request.socket ? "https" : "http",
      "farmgate.request.id": call.id,
    };
    const start = { name: `${method} ${path}`, kind: "server", at: call.since, facts } as const;
    this.#span = tracing.span(start, call.request.rawHeaders);
  }

  /** A worker is asked now. */
  tried({ worker, api, upstreamModel, warmth }: Choice, now: number, streamed: boolean): TrySpan {
    const { config, engine } = worker;
    const operation = operationOf(api);
    const { hostname, port, protocol } = new URL(config.url);
    const facts = {
      "gen_ai.operation.name": operation,
      "gen_ai.provider.name": engine,
      "gen_ai.request.model": upstreamModel,
      "gen_ai.request.stream": streamed,
      "server.address": hostname,
      "server.port": Number(port) || (protocol === "https:" ? 443 : 80),
      "http.request.method": this.#call.socket === null ? "POST" : "GET",
      "http.request.resend_count": this.#tries || null,
      "farmgate.worker": config.name,
      "farmgate.warmth": warmth,
    };
    this.#tries += 1;
    const span = this.#span.child({
      name: `${operation} ${upstreamModel}`,
      kind: "client",
      at: this.#wall(now),
      facts,
    });
    return { headers: span.headers, ended: (end, at) => this.#tryEnded(span, end, now, at) };
  }

  ended({ status, error, usage, at }: SpansEnd): void {
    const call = this.#call;
    this.#endAnswered?.(usage);
    if (call.firstByteAt !== null) this.#span.event("first_byte", this.#wall(call.firstByteAt));
    const facts = {
      "http.response.status_code": status,
      "gen_ai.request.model": call.model || null,
      "error.type": error?.code,
      "farmgate.caller": call.callerName || null,
      "farmgate.worker": call.worker,
      "farmgate.warmth": call.warmth,
      "farmgate.attempts": call.attempts,
      "farmgate.waited_ms": Math.round(call.waitedMs),
      "farmgate.decision": call.weighed?.decision,
      "farmgate.joined_as": call.joinedAs,
    };
    // What was the caller's own fault is no failure of the server's.
    const failed = status >= 500 ? (error?.code ?? String(status)) : null;
    this.#span.end({ at: this.#wall(at), facts, failed });
  }

  #tryEnded(span: TraceSpan, end: AttemptEnd, startedAt: number, now: number): void {
    const at = this.#wall(now);
    if (end.kind !== "relayed") {
      const failed = end.kind === "failed" ? failureType(end.failed) : end.kind;
      const status = end.kind === "failed" && end.failed.by === "answer" ? end.failed.status : null;
      return span.end({ at, facts: { "http.response.status_code": status }, failed });
    }
    const { status, broke } = end;
    const { firstByteAt } = this.#call;
    this.#endAnswered = (usage) => {
      const facts = {
        "http.response.status_code": status,
        "gen_ai.usage.input_tokens": usage?.prompt,
        "gen_ai.usage.output_tokens": usage?.completion,
        "gen_ai.response.time_to_first_chunk": firstByteAt === null ? null : (firstByteAt - startedAt) / 1_000,
      };
      span.end({ at, facts, failed: broke?.kind ?? (status >= 400 ? String(status) : null) });
    };
  }

  #wall(now: number): number {
    return this.#call.since + now - this.#call.arrivedAt;
  }
}

function failureType(failed: FailedAttempt): string {
  return failed.by === "answer" ? failed.meaning : failed.kind;
}

const OPERATIONS: Partial<Record<Api, string>> = {
  chat: "chat",
  messages: "chat",
  responses: "chat",
  "ollama-chat": "chat",
  completions: "text_completion",
  completion: "text_completion",
  "ollama-generate": "text_completion",
  embeddings: "embeddings",
  "ollama-embed": "embeddings",
  "ollama-embeddings": "embeddings",
};

/** In the words of the conventions for generative AI where they have one. */
function operationOf(api: Api): string {
  return OPERATIONS[api] ?? api;
}
