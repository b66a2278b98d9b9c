import { chanceOf } from "../draws.ts";
import type { Trace } from "../types.ts";
import { addBursts, CELL_MS } from "./arrivals.ts";
import { dayLevel } from "./day.ts";
import { generate } from "./generate.ts";
import type { LoadedApplication } from "./types.ts";
import { w0Applications } from "./w0-applications.ts";

/** Published: a day of 45.6 million requests (528 a second), compressed 48 times to 603,000: 335 a second, 0.64 of it. */
export const W0_REQUESTS = 603_000;
export const W0_COMPRESSION = 48;
export const W0_DURATION_MS = 86_400_000 / W0_COMPRESSION;

/** Added to an application's place, so that its bursts have their own source of chance. */
const BURSTS = 2_000_000;

export interface W0Options {
  seed?: number;
  /** Of the requests, and so of each application's rate; lengths, bursts and the day stay. */
  scale?: number;
  applications?: readonly LoadedApplication[];
}

/**
 * The published load as far as it is known: a day in half an hour, from midnight on. Only the day is compressed: bursts
 * last seconds, and lengths and times to load are what they are.
 */
export function w0({ seed = 1, scale = 1, applications = w0Applications() }: W0Options = {}): Trace {
  const durationMs = W0_DURATION_MS;
  const day = new Float64Array(Math.ceil(durationMs / CELL_MS));
  for (let i = 0; i < day.length; i += 1) day[i] = dayLevel(((i + 0.5) * CELL_MS * 24) / durationMs);
  const levels = (app: number) => {
    const levels = day.slice();
    const one = applications[app];
    if (one !== undefined) addBursts(levels, one.burst, chanceOf(seed, BURSTS + app));
    return levels;
  };
  return generate(applications, { requests: Math.round(W0_REQUESTS * scale), durationMs, seed, levels });
}

/** The same applications, shares and lengths at one even rate: no day and no bursts. */
export function flatPoisson({ seed = 1, scale = 1, applications = w0Applications() }: W0Options = {}): Trace {
  const levels = (_app: number, cells: number) => new Float64Array(cells).fill(1);
  const requests = Math.round(W0_REQUESTS * scale);
  return generate(applications, { requests, durationMs: W0_DURATION_MS, seed, levels });
}
