import { chanceOf, gamma, type LogNormal, logNormal, weibull } from "../draws.ts";
import { TraceBuilder } from "../trace-builder.ts";
import type { Trace } from "../types.ts";
import { csvRows } from "./csv-rows.ts";
import { figure, milliseconds } from "./figures.ts";
import { shown, TraceError } from "./trace-error.ts";

const WINDOW_MS = 600_000;
/** Two days of all its models are 430 million requests. */
const MOST_REQUESTS = 3_000_000;
const COLUMNS = ["model", "client", "t_s", "rps", "dist", "shape"];

export interface ServeGenOptions {
  seed: number;
  /** Requests that come from `from` up to `to`, milliseconds from the file's start, with times from `from` on. */
  from: number;
  to: number;
  /** All rates are multiplied by it. */
  rate: number;
  /** Only these; null: all of the file. */
  models: readonly string[] | null;
  /** What counts as an application: a model, or each client of each model. */
  by: "model" | "client";
  /** The file has no lengths. */
  input: LogNormal;
  output: LogNormal;
}

/** The first hour at a hundredth of its rates. Lengths: medians and spread of the Azure conversation trace. */
const SERVEGEN_DEFAULTS: ServeGenOptions = {
  seed: 1,
  from: 0,
  to: 3_600_000,
  rate: 0.01,
  models: null,
  by: "model",
  input: { median: 1_020, sigma: 0.75, most: 32_768 },
  output: { median: 129, sigma: 0.9, most: 4_096 },
};

export function isServeGen(firstLine: string): boolean {
  return firstLine.startsWith("model,client,t_s,");
}

/**
 * Draws requests from ServeGen's table of rates. Each client has, for each window of ten minutes, a rate and the
 * distribution of its gaps. A window gets as many requests as its rate says (a fraction is settled by chance); their
 * gaps are drawn from its distribution and then stretched to fill the window, so that the rate is the file's and the
 * shape of the gaps too, whatever the fitted scale says. What the window has outside of `from` and `to` is left out.
 */
export function readServeGen(text: string, options: Partial<ServeGenOptions> = {}): Trace {
  const all = { ...SERVEGEN_DEFAULTS, ...options };
  const builder = new TraceBuilder();
  for (const { line, cells } of csvRows(text, COLUMNS, { "dist(W|G)": "dist" })) {
    const [model = "", client = "", time, rps, dist, shapeText] = cells;
    const start = milliseconds(time, "t_s", line, 1_000);
    const rate = figure(rps, "rps", line) * all.rate;
    const shape = figure(shapeText, "shape", line);
    if (dist !== "W" && dist !== "G") throw new TraceError(line, `dist must be W or G, not ${shown(dist)}`);
    if (shape === 0) throw new TraceError(line, "shape must be above 0");
    if (start + WINDOW_MS <= all.from || start >= all.to) continue;
    if (all.models !== null && !all.models.includes(model)) continue;
    const random = chanceOf(all.seed, line);
    const count = Math.floor((rate * WINDOW_MS) / 1_000 + random());
    if (builder.length + count > MOST_REQUESTS) {
      const advice = "take fewer models, a shorter time or a lower rate";
      throw new TraceError(null, `more than ${MOST_REQUESTS} requests would come of it: ${advice}`);
    }
    const app = builder.application(all.by === "model" ? model : `${model}/${client}`);
    const draw = dist === "W" ? () => weibull(random, shape) : () => gamma(random, shape);
    for (const at of filled(count, draw, random())) {
      const ms = start + at * WINDOW_MS;
      if (ms < all.from || ms >= all.to) continue;
      builder.add({
        at: ms - all.from,
        app,
        input: logNormal(random, all.input),
        output: logNormal(random, all.output),
      });
    }
  }
  if (builder.length === 0) throw new TraceError(null, "no request comes of it in that time at that rate");
  return builder.build();
}

/** Times in [0, 1) whose gaps go as the draws, round and round; `turn`: how far the round is turned, 0 to 1. */
function filled(count: number, draw: () => number, turn: number): Float64Array {
  const times = new Float64Array(count);
  let sum = 0;
  for (let i = 0; i < count; i += 1) {
    sum += draw();
    times[i] = sum;
  }
  for (let i = 0; i < count; i += 1) times[i] = ((times[i] ?? 0) / (sum || 1) + turn) % 1;
  return times;
}
