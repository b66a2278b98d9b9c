import type { Trace } from "../types.ts";
import { isAzure, readAzure } from "./azure.ts";
import { firstLine } from "./lines.ts";
import { isMooncake, readMooncake } from "./mooncake.ts";
import { isRecorded, readRecorded } from "./recorded.ts";
import { isServeGen, readServeGen, type ServeGenOptions } from "./servegen.ts";
import { shown, TraceError } from "./trace-error.ts";

export interface ReadTrace {
  trace: Trace;
  format: "farmgate" | "azure" | "mooncake" | "servegen";
  /** What its reader should know of it, in words. */
  notes: readonly string[];
}

export interface ReadOptions {
  /** What the one application of a trace without names is called. */
  application?: string;
  servegen?: Partial<ServeGenOptions>;
}

/** A trace of any known format, told by its first line. Throws a TraceError that says what is wrong, and where. */
export function readTrace(text: string, { application, servegen }: ReadOptions = {}): ReadTrace {
  const first = firstLine(text);
  if (first === "") throw new TraceError(null, "the file is empty");
  if (isRecorded(first)) {
    const { trace, lost, estimated } = readRecorded(text);
    const notes: string[] = [];
    if (lost > 0) notes.push(`${lost} requests are missing: the recording was read too slowly`);
    if (estimated > 0) notes.push(`the tokens of ${estimated} of ${trace.at.length} requests are estimates`);
    return { trace, format: "farmgate", notes };
  }
  if (isServeGen(first)) {
    const notes = ["arrivals are drawn from rates; the file has no lengths, they are drawn too"];
    return { trace: readServeGen(text, servegen), format: "servegen", notes };
  }
  if (isMooncake(first)) return { trace: readMooncake(text, application), format: "mooncake", notes: [] };
  if (isAzure(first)) return { trace: readAzure(text, application), format: "azure", notes: [] };
  const known = 'a head {"farmgate_trace":1}, an Azure or ServeGen table, or Mooncake lines';
  throw new TraceError(1, `is the start of no known format (${known}): ${shown(first)}`);
}
