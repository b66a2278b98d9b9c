import {
  type Attributes,
  type Context,
  type HrTime,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { Clock, TelemetrySettings } from "@farmgate/shared";
import type { Log } from "../log.ts";
import type { TracedService } from "./open-tracing.ts";
import { ToldExporter } from "./told-exporter.ts";
import { valuesOf } from "./trace-headers.ts";
import type { SpanEnd, SpanFacts, SpanStart, TraceSpan, Tracing } from "./tracing.ts";

/** So many spans wait to be sent at most; what comes beyond is dropped. */
const MOST_WAITING = 2_048;
/** Spans wait for others this long, and their sending may take this long. Milliseconds. */
const GATHER_MS = 1_000;
const SEND_MS = 10_000;
const CLOSE_MS = 2_000;
/** Of a text, in characters. */
const MOST_TEXT = 500;

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT };
const W3C = new W3CTraceContextPropagator();

/** Spans by OpenTelemetry's own SDK, to a collector that speaks OTLP over HTTP. Loaded only where traces are on. */
export class OtlpTracing implements Tracing {
  readonly #provider: TracerProvider;
  readonly #tracer: Tracer;
  readonly #clock: Clock;

  constructor(
    { otlp, sample, headers }: TelemetrySettings,
    { name, version, instance }: TracedService,
    { clock, log }: { clock: Clock; log: Log },
  ) {
    const exporter = new OTLPTraceExporter({ url: `${otlp}/v1/traces`, headers, timeoutMillis: SEND_MS });
    this.#clock = clock;
    this.#provider = new TracerProvider({
      resource: resourceFromAttributes({
        "service.name": name,
        "service.version": version,
        "service.instance.id": instance,
      }),
      sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(sample) }),
      spanLimits: { attributeValueLengthLimit: MOST_TEXT },
      spanProcessors: [
        new BatchSpanProcessor({
          exporter: new ToldExporter(exporter, otlp, log),
          maxQueueSize: MOST_WAITING,
          scheduledDelayMillis: GATHER_MS,
          exportTimeoutMillis: SEND_MS,
        }),
      ],
    });
    this.#tracer = this.#provider.getTracer("farmgate", version);
  }

  span(start: SpanStart, rawHeaders: readonly string[]): TraceSpan {
    return new OtlpSpan(this.#tracer, start, callersContext(rawHeaders));
  }

  async close(): Promise<void> {
    const late = new Promise<void>((resolve) => this.#clock.after(CLOSE_MS, resolve));
    await Promise.race([this.#provider.shutdown().catch(() => {}), late]);
  }
}

class OtlpSpan implements TraceSpan {
  readonly #tracer: Tracer;
  readonly #span: Span;
  readonly #context: Context;

  constructor(tracer: Tracer, { name, kind, at, facts }: SpanStart, parent: Context) {
    this.#tracer = tracer;
    const options = { kind: KINDS[kind], startTime: timeOf(at), attributes: attributesOf(facts) };
    this.#span = tracer.startSpan(name, options, parent);
    this.#context = trace.setSpan(parent, this.#span);
  }

  get headers(): readonly string[] {
    const flat: string[] = [];
    W3C.inject(this.#context, flat, { set: (carrier, key, value) => carrier.push(key, value) });
    return flat;
  }

  child(start: SpanStart): TraceSpan {
    return new OtlpSpan(this.#tracer, start, this.#context);
  }

  event(name: string, at: number, facts: SpanFacts = {}): void {
    this.#span.addEvent(name, attributesOf(facts), timeOf(at));
  }

  end({ at, facts, failed }: SpanEnd): void {
    this.#span.setAttributes(attributesOf(facts));
    if (failed !== null) this.#span.setAttribute("error.type", failed).setStatus({ code: SpanStatusCode.ERROR });
    this.#span.end(timeOf(at));
  }
}

/** What the caller tells of its span; nothing where it tells of two, or in a way that W3C does not know. */
function callersContext(rawHeaders: readonly string[]): Context {
  return W3C.extract(ROOT_CONTEXT, rawHeaders, {
    keys: () => [],
    get(headers, key) {
      const values = valuesOf(headers, key);
      return key === "tracestate" ? values.join(",") : values.length === 1 ? values[0] : undefined;
    },
  });
}

function attributesOf(facts: SpanFacts): Attributes {
  const attributes: Attributes = {};
  for (const [name, value] of Object.entries(facts)) {
    if (value !== null && value !== undefined) attributes[name] = value;
  }
  return attributes;
}

/** Seconds and nanoseconds. Not a number: one that is small the SDK takes for time since the program's start. */
function timeOf(ms: number): HrTime {
  const whole = Math.floor(ms);
  return [Math.floor(whole / 1_000), (whole % 1_000) * 1e6 + Math.floor((ms - whole) * 1e6)];
}
