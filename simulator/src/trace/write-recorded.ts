import { TRACE_VERSION } from "@farmgate/shared";
import type { Trace } from "./types.ts";

/** Lines that go out together. */
const BATCH = 1_000;

/** A trace in the farm's own format, in pieces of text that end with a line's end. */
export function* writeRecorded(trace: Trace): Generator<string> {
  yield `${JSON.stringify({ farmgate_trace: TRACE_VERSION })}\n`;
  let text = "";
  for (let i = 0; i < trace.at.length; i += 1) {
    text += `${JSON.stringify(rowOf(trace, i))}\n`;
    if ((i + 1) % BATCH > 0) continue;
    yield text;
    text = "";
  }
  if (text !== "") yield text;
}

function rowOf({ applications, at, app, input, output, prefix, key, deadline, batch }: Trace, i: number) {
  return {
    at: at[i],
    model: applications[app[i] ?? 0],
    input: input[i],
    output: output[i],
    // What a row does not have is left out.
    prefix: prefix?.[i] || undefined,
    key: key?.[i] || undefined,
    deadline: deadline?.[i] || undefined,
    priority: batch?.[i] === 1 ? "batch" : undefined,
  };
}
