import type { Environment } from "@farmgate/shared";
import { usageError } from "./exit-code.ts";

const LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"];

/** Refuses a level that the log does not have, in words, before anything starts. */
export function checkLogLevel(env: Environment): void {
  const level = env["FARMGATE_LOG_LEVEL"];
  if (level === undefined || LEVELS.includes(level)) return;
  throw usageError(`FARMGATE_LOG_LEVEL is ${JSON.stringify(level)}; it must be one of ${LEVELS.join(", ")}`);
}
