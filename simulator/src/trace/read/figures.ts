import { shown, TraceError } from "./trace-error.ts";

/** More tokens than any request has, and few enough to count in 32 bits. */
const MOST_TOKENS = 1_000_000_000;
/** Ten years. */
const MOST_MS = 315_360_000_000;

/** Tokens, a whole number. `least`: what is below, as the 0 of a request that failed, is taken as that many. */
export function tokens(value: unknown, name: string, line: number, least = 0): number {
  const count = figure(value, name, line);
  if (!Number.isInteger(count)) throw new TraceError(line, `${name} must be a whole number, not ${shown(value)}`);
  if (count > MOST_TOKENS) throw new TraceError(line, `${name} is more than ${MOST_TOKENS}`);
  return Math.max(least, count);
}

/** Milliseconds, from a figure of `unitMs` each. */
export function milliseconds(value: unknown, name: string, line: number, unitMs = 1): number {
  const ms = figure(value, name, line) * unitMs;
  if (ms > MOST_MS) throw new TraceError(line, `${name} is more than ten years`);
  return ms;
}

/** A number of 0 or more; text is read as one. */
export function figure(value: unknown, name: string, line: number): number {
  const isText = typeof value === "string" && value.trim() !== "";
  const number = isText ? Number(value) : value;
  if (typeof number !== "number" || !Number.isFinite(number)) {
    throw new TraceError(line, `${name} must be a number, not ${value === undefined ? "missing" : shown(value)}`);
  }
  if (number < 0) throw new TraceError(line, `${name} must not be negative, but is ${number}`);
  return number;
}
