import pino from "pino";
import pretty from "pino-pretty";

export type Log = pino.Logger;

/**
 * The program's log on standard output: JSON lines, or readable ones on a terminal.
 * Keys and authorization headers are never logged, whoever passes an object with them.
 */
export function createLog(name: string, level: string = process.env["FARMGATE_LOG_LEVEL"] ?? "info"): Log {
  const options: pino.LoggerOptions = {
    name,
    level,
    redact: { paths: ["key", "apiKey", "*.key", "*.apiKey", "*.authorization"], censor: "[hidden]" },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  };
  if (!process.stdout.isTTY) return pino(options);
  return pino(options, pretty({ sync: true, ignore: "pid,hostname", translateTime: "SYS:HH:MM:ss.l" }));
}
