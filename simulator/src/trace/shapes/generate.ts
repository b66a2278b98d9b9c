import { chanceOf, logNormal } from "../draws.ts";
import type { Trace } from "../types.ts";
import { CELL_MS, drawArrivals } from "./arrivals.ts";
import type { LoadedApplication } from "./types.ts";

/** Arrivals are told apart by a microsecond. */
const TICKS_PER_MS = 1_000;
/** Added to an application's place, so that its lengths and its arrivals come from other sources of chance. */
const LENGTHS = 1_000_000;

export interface Generated {
  requests: number;
  durationMs: number;
  seed: number;
  /** The rate of each stretch of `CELL_MS`, as multiples of any one rate: the application's requests go by it. */
  levels(app: number, cells: number): Float64Array;
}

/** A trace with exactly so many requests, each application with its share of them (a fraction goes to the next). */
export function generate(applications: readonly LoadedApplication[], shape: Generated): Trace {
  const { requests, durationMs, seed } = shape;
  const cells = Math.ceil(durationMs / CELL_MS);
  const apps = applications.length;
  // Time and application in one number, which sorts several times faster than rows do.
  const marks = new Float64Array(requests);
  let filled = 0;
  for (const [app, count] of counts(applications, requests).entries()) {
    drawArrivals(shape.levels(app, cells), count, chanceOf(seed, app), (at) => {
      marks[filled] = Math.floor(Math.min(at, durationMs) * TICKS_PER_MS) * apps + app;
      filled += 1;
    });
  }
  marks.sort();
  const trace = {
    applications: applications.map(({ name }) => name),
    at: new Float64Array(requests),
    app: new Uint16Array(requests),
    input: new Uint32Array(requests),
    output: new Uint32Array(requests),
  };
  const chances = applications.map((_, app) => chanceOf(seed, LENGTHS + app));
  for (let i = 0; i < requests; i += 1) {
    const mark = marks[i] ?? 0;
    const app = mark % apps;
    const [one, random] = [applications[app], chances[app]];
    if (one === undefined || random === undefined) continue;
    trace.at[i] = Math.floor(mark / apps) / TICKS_PER_MS;
    trace.app[i] = app;
    trace.input[i] = logNormal(random, one.input);
    trace.output[i] = logNormal(random, one.output);
  }
  return trace;
}

/** Each one's part, so that they add up to the whole. */
function counts(applications: readonly LoadedApplication[], requests: number): number[] {
  const whole = applications.reduce((sum, { share }) => sum + share, 0);
  let share = 0;
  let given = 0;
  return applications.map((one) => {
    share += one.share;
    const upTo = Math.round((share / whole) * requests);
    const count = upTo - given;
    given = upTo;
    return count;
  });
}
