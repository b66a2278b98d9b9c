import { type ExportResult, ExportResultCode } from "@opentelemetry/core";
import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace";
import type { Log } from "../log.ts";

/** Passes spans on to another, and says in the log when it cannot any more and when it can again: once each. */
export class ToldExporter implements SpanExporter {
  readonly #exporter: SpanExporter;
  readonly #log: Log;
  readonly #collector: string;
  #isAway = false;

  constructor(exporter: SpanExporter, collector: string, log: Log) {
    this.#exporter = exporter;
    this.#collector = collector;
    this.#log = log;
  }

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.#exporter.export(spans, (result) => {
      this.#tell(result);
      done(result);
    });
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }

  #tell({ code, error }: ExportResult): void {
    const isAway = code !== ExportResultCode.SUCCESS;
    if (isAway === this.#isAway) return;
    this.#isAway = isAway;
    const collector = this.#collector;
    if (!isAway) return this.#log.info({ collector }, `${collector} takes traces again`);
    const reason = (error?.message ?? "no reason").slice(0, 200);
    this.#log.warn({ collector, reason }, `${collector} takes no traces: they are lost until it does`);
  }
}
