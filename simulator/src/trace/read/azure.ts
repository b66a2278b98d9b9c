import { TraceBuilder } from "../trace-builder.ts";
import type { Trace } from "../types.ts";
import { csvRows } from "./csv-rows.ts";
import { milliseconds, tokens } from "./figures.ts";
import { shown, TraceError } from "./trace-error.ts";

/** As the published files name them, and what they are called in copies with seconds from the start. */
const COLUMNS = ["t_s", "input_tokens", "output_tokens"];
const PUBLISHED = { TIMESTAMP: "t_s", ContextTokens: "input_tokens", GeneratedTokens: "output_tokens" };

export function isAzure(firstLine: string): boolean {
  return /^(t_s|TIMESTAMP),/.test(firstLine);
}

/**
 * The Azure LLM inference traces: one application. Times are seconds from the start, or dates as published; the first
 * request is at 0. A count of 0 tokens is taken as 1.
 */
export function readAzure(text: string, application = "azure"): Trace {
  const builder = new TraceBuilder();
  const app = builder.application(application);
  let start: number | null = null;
  for (const { line, cells } of csvRows(text, COLUMNS, PUBLISHED)) {
    const [time = "", input, output] = cells;
    const at = time.includes(":") ? dateMs(time, line) : milliseconds(time, "t_s", line, 1_000);
    start ??= at;
    if (at < start) throw new TraceError(line, "is before the first request");
    const counts = { input: tokens(input, "input tokens", line, 1), output: tokens(output, "output tokens", line, 1) };
    builder.add({ at: at - start, app, ...counts });
  }
  return builder.build();
}

/** `2023-11-16 18:15:46.6805900`, in milliseconds with their fractions: finer than a Date has them. */
function dateMs(text: string, line: number): number {
  const parts = /^(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d(?:\.\d+)?)(?:Z|\+00:?00)?$/.exec(text);
  if (parts === null) throw new TraceError(line, `TIMESTAMP must be a date and time, not ${shown(text)}`);
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = parts.slice(1).map(Number);
  return ((daysSince1970(year, month, day) * 24 + hour) * 60 + minute) * 60_000 + second * 1_000;
}

/** Of the Gregorian calendar, counted in years that begin in March. */
function daysSince1970(year: number, month: number, day: number): number {
  const years = month > 2 ? year : year - 1;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  const leapDays = Math.floor(years / 4) - Math.floor(years / 100) + Math.floor(years / 400);
  return years * 365 + leapDays + dayOfYear - 719_468;
}
