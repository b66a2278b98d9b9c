import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { type ReadOptions, type ReadTrace, readTrace } from "../read/read-trace.ts";
import { TraceError } from "../read/trace-error.ts";

/** As a string a larger one does not fit into this program. */
const MOST_BYTES = 500_000_000;
const unpack = promisify(gunzip);

/** Reads a trace from a file, gzipped or not. Throws a TraceError that names the file. */
export async function openTrace(path: string, options: ReadOptions = {}): Promise<ReadTrace> {
  try {
    return readTrace(await textOf(path), options);
  } catch (error) {
    throw new TraceError(null, `${path}: ${reason(error)}`);
  }
}

async function textOf(path: string): Promise<string> {
  const bytes = await readFile(path);
  const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const whole = isPacked ? await unpack(bytes, { maxOutputLength: MOST_BYTES }) : bytes;
  if (whole.length > MOST_BYTES) throw new TraceError(null, `is larger than ${MOST_BYTES} bytes`);
  return whole.toString("utf8");
}

function reason(error: unknown): string {
  if (error instanceof TraceError) return error.message;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "ENOENT") return "there is no such file";
  if (code === "EISDIR") return "is a folder";
  if (code === "ERR_BUFFER_TOO_LARGE") return `is larger than ${MOST_BYTES} bytes`;
  if (code?.startsWith("Z_") === true) return `cannot be unpacked (${message})`;
  return message;
}
