import { openTrace, type ReadTrace, TraceError } from "@farmgate/simulator/virtual";
import { usageError } from "../exit-code.ts";

/** Reads a trace that a flag names. Throws a CommandError that says what is wrong with it. */
export async function openTraceFile(file: string, options: { application?: string } = {}): Promise<ReadTrace> {
  try {
    return await openTrace(file, options);
  } catch (error) {
    throw error instanceof TraceError ? usageError(error.message) : error;
  }
}
