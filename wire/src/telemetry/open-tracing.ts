import type { Clock, TelemetrySettings } from "@farmgate/shared";
import type { Log } from "../log.ts";
import type { Tracing } from "./tracing.ts";

/** Whose spans they are. */
export interface TracedService {
  /** farmgate-gateway or farmgate-agent. */
  name: string;
  version: string;
  /** Tells it from others of its kind. */
  instance: string;
}

/** null: traces are off, and nothing that makes them is loaded. */
export async function openTracing(
  settings: TelemetrySettings | null,
  service: TracedService,
  deps: { clock: Clock; log: Log },
): Promise<Tracing | null> {
  if (settings === null) return null;
  const { OtlpTracing } = await import("./otlp-tracing.ts");
  return new OtlpTracing(settings, service, deps);
}
