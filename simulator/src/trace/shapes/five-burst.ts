import type { Trace } from "../types.ts";
import { raise } from "./arrivals.ts";
import { generate } from "./generate.ts";
import type { LoadedApplication } from "./types.ts";
import { w0Applications } from "./w0-applications.ts";

/** Published: five applications, and a burst of 120 s. What stands before and after it, and the rates, are not. */
const APPLICATIONS = 5;
const BURST_FROM_MS = 120_000;
const BURST_TO_MS = 240_000;
const DURATION_MS = 360_000;

export interface FiveBurstOptions {
  seed?: number;
  /** Applications that are asked more, the first ones. */
  bursting?: number;
  /** Requests a second of each, outside of the burst: with 800 tokens each below the 3,000 tokens a second of a head. */
  rate?: number;
  /** In the burst: 32,000 tokens a second, which by the published table takes three replicas or four. */
  factor?: number;
  /** Names, base models and lengths; the large ones of W0 otherwise. */
  applications?: readonly LoadedApplication[];
}

export function fiveBurst(options: FiveBurstOptions = {}): Trace {
  const { seed = 1, bursting = 1, rate = 2, factor = 20, applications = fiveApplications() } = options;
  const calm = (rate * DURATION_MS) / 1_000;
  const more = (rate * (factor - 1) * (BURST_TO_MS - BURST_FROM_MS)) / 1_000;
  const loaded = applications.map((one, app) => ({ ...one, share: app < bursting ? calm + more : calm }));
  const levels = (app: number, cells: number) => {
    const level = new Float64Array(cells).fill(1);
    if (app < bursting) raise(level, BURST_FROM_MS, BURST_TO_MS, factor);
    return level;
  };
  const requests = Math.round(loaded.reduce((sum, { share }) => sum + share, 0));
  return generate(loaded, { requests, durationMs: DURATION_MS, seed, levels });
}

/** The five most asked of W0, with even shares. */
function fiveApplications(): LoadedApplication[] {
  return w0Applications()
    .slice(0, APPLICATIONS)
    .map((one) => ({ ...one, share: 1 / APPLICATIONS }));
}
