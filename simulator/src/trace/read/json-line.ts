import { shown, TraceError } from "./trace-error.ts";

/** The object of one line. */
export function jsonLine(text: string, line: number): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new TraceError(line, `is no JSON: ${shown(text)}`);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new TraceError(line, `must be an object, not ${shown(value)}`);
}
