/** What a span tells. Names by OpenTelemetry's semantic conventions where they have one, else `farmgate.*`. */
export type SpanFacts = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Times in milliseconds since the Unix epoch, with fractions. */
export interface SpanStart {
  name: string;
  /** server: a request that came; client: one that is sent. */
  kind: "server" | "client";
  at: number;
  facts: SpanFacts;
}

export interface SpanEnd {
  at: number;
  facts: SpanFacts;
  /** It counts as failed, for this reason; null: it does not. */
  failed: string | null;
}

/** A piece of work that somebody wants to see later. */
export interface TraceSpan {
  /** By which whoever is asked next puts its own spans below this one: W3C `traceparent` and `tracestate`, flat. */
  readonly headers: readonly string[];
  child(start: SpanStart): TraceSpan;
  event(name: string, at: number, facts?: SpanFacts): void;
  /** Once. */
  end(end: SpanEnd): void;
}

/** Makes spans and sends them on, several at a time; one that cannot be sent is lost, and nothing waits for it. */
export interface Tracing {
  /** Below what the caller's headers (flat) tell of its own span, else the first of a trace. */
  span(start: SpanStart, rawHeaders: readonly string[]): TraceSpan;
  /** Sends what is left, as far as that takes no longer than two seconds. */
  close(): Promise<void>;
}
