import { TRACE_VERSION } from "@farmgate/shared";
import { MOST_NAMES, TraceBuilder, type TraceRow } from "../trace-builder.ts";
import type { Trace } from "../types.ts";
import { milliseconds, tokens } from "./figures.ts";
import { jsonLine } from "./json-line.ts";
import { lines } from "./lines.ts";
import { shown, TraceError } from "./trace-error.ts";

export interface Recorded {
  trace: Trace;
  /** Lines that its reader was too slow for. */
  lost: number;
  /** Requests whose tokens no engine counted. */
  estimated: number;
}

export function isRecorded(firstLine: string): boolean {
  return firstLine.startsWith("{") && firstLine.includes('"farmgate_trace"');
}

/**
 * A trace that a farm recorded: a head, then a line for each request in the order in which they ended. Lines and fields
 * that are not known are passed over, a known one of a wrong type is an error. `input` of 0 is taken as 1.
 */
export function readRecorded(text: string): Recorded {
  const builder = new TraceBuilder();
  let hasHead = false;
  let lost = 0;
  let estimated = 0;
  for (const { line, text: row } of lines(text)) {
    const fields = jsonLine(row, line);
    if (!hasHead) {
      checkHead(fields, line);
      hasHead = true;
    } else if (fields["lost"] !== undefined) lost += tokens(number(fields, "lost", line), "lost", line);
    else if (fields["at"] !== undefined || fields["model"] !== undefined) {
      builder.add(toRow(fields, builder, line));
      if (fields["estimated"] === true) estimated += 1;
    }
  }
  if (!hasHead) throw new TraceError(null, "the file is empty");
  return { trace: builder.build(), lost, estimated };
}

function checkHead(fields: Record<string, unknown>, line: number): void {
  const version = fields["farmgate_trace"];
  if (version === TRACE_VERSION) return;
  if (version === undefined) throw new TraceError(line, `must be the head, {"farmgate_trace":${TRACE_VERSION}}`);
  throw new TraceError(line, `is version ${shown(version)} of the format; version ${TRACE_VERSION} is known here`);
}

function toRow(fields: Record<string, unknown>, builder: TraceBuilder, line: number): TraceRow {
  const { model, priority } = fields;
  if (typeof model !== "string" || model === "")
    throw new TraceError(line, `model must be a name, not ${shown(model)}`);
  if (priority !== undefined && priority !== "interactive" && priority !== "batch") {
    throw new TraceError(line, `priority must be interactive or batch, not ${shown(priority)}`);
  }
  const input = tokens(number(fields, "input", line), "input", line, 1);
  const key = tokens(number(fields, "key", line, 0), "key", line);
  if (key >= MOST_NAMES) throw new TraceError(line, `key must be below ${MOST_NAMES}`);
  return {
    at: milliseconds(number(fields, "at", line), "at", line),
    app: applicationOf(builder, model, line),
    input,
    output: tokens(number(fields, "output", line), "output", line),
    prefix: Math.min(input, tokens(number(fields, "prefix", line, 0), "prefix", line)),
    key,
    deadline: milliseconds(number(fields, "deadline", line, 0), "deadline", line),
    batch: priority === "batch",
  };
}

/** A number as JSON has it: in quotes it is a text. */
function number(fields: Record<string, unknown>, name: string, line: number, absent?: number): unknown {
  const value = fields[name] ?? absent;
  if (typeof value === "string") throw new TraceError(line, `${name} must be a number, not the text "${shown(value)}"`);
  return value;
}

function applicationOf(builder: TraceBuilder, model: string, line: number): number {
  try {
    return builder.application(model);
  } catch (error) {
    throw new TraceError(line, (error as Error).message);
  }
}
