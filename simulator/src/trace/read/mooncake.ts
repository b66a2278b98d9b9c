import { TraceBuilder } from "../trace-builder.ts";
import type { Trace } from "../types.ts";
import { milliseconds, tokens } from "./figures.ts";
import { jsonLine } from "./json-line.ts";
import { lines } from "./lines.ts";
import { TraceError } from "./trace-error.ts";

/** Tokens of one block; each id stands for a block and all that is in front of it. */
const BLOCK = 512;

export function isMooncake(firstLine: string): boolean {
  return firstLine.startsWith("{") && firstLine.includes('"hash_ids"');
}

/**
 * Mooncake's traces: one application. `prefix` is how much of a prompt, in whole blocks, some earlier request had in
 * front too. A count of 0 tokens is taken as 1.
 */
export function readMooncake(text: string, application = "mooncake"): Trace {
  const builder = new TraceBuilder();
  const app = builder.application(application);
  const seen = new Set<number>();
  for (const { line, text: row } of lines(text)) {
    const { timestamp, input_length: asked, output_length: answered, hash_ids: ids } = jsonLine(row, line);
    const at = milliseconds(timestamp, "timestamp", line);
    const input = tokens(asked, "input_length", line, 1);
    const output = tokens(answered, "output_length", line, 1);
    const prefix = Math.min(input, BLOCK * knownBlocks(ids, seen, line));
    builder.add({ at, app, input, output, prefix });
  }
  if (builder.length === 0) throw new TraceError(null, "the file is empty");
  return builder.build();
}

/** How many blocks in front have been seen; all of them have been from now on. */
function knownBlocks(ids: unknown, seen: Set<number>, line: number): number {
  if (!Array.isArray(ids)) throw new TraceError(line, "hash_ids must be a list");
  let known = 0;
  let isKnown = true;
  for (const id of ids) {
    if (typeof id !== "number") throw new TraceError(line, "hash_ids must be numbers");
    isKnown &&= seen.has(id);
    if (isKnown) known += 1;
    else seen.add(id);
  }
  return known;
}
