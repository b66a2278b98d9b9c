import pino from "pino";
import pretty from "pino-pretty";
import { readableLine } from "./readable-line.ts";

export type Log = pino.Logger;

/** A line is written at the latest after this many milliseconds, or with the process's end. */
const FLUSH_MS = 100;
/** Lines that cannot be written (a full disk) are kept up to this many bytes; what comes beyond is dropped. */
const MOST_KEPT = 1_024 ** 2;
let output: pino.DestinationStream | null = null;

/**
 * Several lines with one write: single ones would cost a busy gateway a tenth of its time. The writes themselves are
 * synchronous, since handing each to another thread costs more than it saves. A log that cannot be written is no reason
 * to stop serving: it is tried again with the next lines.
 */
function bufferedOutput(): pino.DestinationStream {
  if (output !== null) return output;
  const buffered = pino.destination({
    dest: 1,
    sync: true,
    minLength: 4_096,
    maxLength: MOST_KEPT,
    periodicFlush: FLUSH_MS,
  });
  let wrote = 0;
  buffered.on("write", (bytes: number) => (wrote = bytes));
  buffered.on("error", () => {});
  process.on("exit", () => {
    // Not `flushSync`: on a full disk it tries for ever, and the process would never end.
    do {
      wrote = 0;
      buffered.flush();
    } while (wrote > 0);
  });
  output = { write: (line) => buffered.write(withoutControl(line)) };
  return output;
}

/** What JSON leaves as it is, and a terminal on which somebody reads the log would act on. */
const ACTED_ON = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
const ALL_ACTED_ON = new RegExp(ACTED_ON, "g");

/** A line of JSON that means the same, with such characters as escapes. They can stand in its texts alone. */
export function withoutControl(line: string): string {
  if (!ACTED_ON.test(line)) return line;
  return line.replace(ALL_ACTED_ON, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

let stampedAt = 0;
let stamp = "";

/** The time in ISO 8601. Lines are written several at a time, and those of one millisecond share its text. */
function isoTime(): string {
  const now = Date.now();
  if (now !== stampedAt) {
    stampedAt = now;
    stamp = `,"time":"${new Date(now).toISOString()}"`;
  }
  return stamp;
}

/** An error in the log. What a parser says quotes what it read, which may be somebody's prompt: it is left out. */
export function tellError(error: Error): object {
  const told = pino.stdSerializers.err(error);
  if (!(error instanceof SyntaxError)) return told;
  const places = (error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line));
  return { type: told.type, message: "not JSON", stack: places.join("\n") };
}

/**
 * The program's log on standard output: JSON lines, or readable ones on a terminal.
 * A line is written at the latest 100 ms after it was logged, and at the end of the process.
 */
export function createLog(name: string, level: string = process.env["FARMGATE_LOG_LEVEL"] ?? "info"): Log {
  const options: pino.LoggerOptions = {
    name,
    level,
    timestamp: isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: tellError },
  };
  if (!process.stdout.isTTY) return pino(options, bufferedOutput());
  // A terminal may be closed while the program still drains.
  const terminal = pino.destination({ dest: 1, sync: true }).on("error", () => {});
  return pino(
    options,
    pretty({
      destination: terminal,
      hideObject: true,
      ignore: "pid,hostname",
      translateTime: "SYS:HH:MM:ss.l",
      messageFormat: readableLine,
    }),
  );
}
