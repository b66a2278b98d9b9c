// One line of the results: a figure, what each proxy reached, and what was to be held.
import { median, medianRatio } from "./median.ts";

export interface Guide {
  limit: number;
  /** The gateway's ratio to nginx, at most the limit; or its own value, below the limit. */
  of: "ratio" | "value";
  unit?: string;
  aim?: number;
}

export interface Row {
  figure: string;
  values: Record<string, number>;
  /** The gateway's to nginx's. */
  ratio?: number;
  guide?: Guide;
}

const GATEWAY = "gateway";
const BASE = "nginx";

/** The row of a figure that was taken in rounds: medians, and the ratio round by round. */
export function rowOfRounds(figure: string, rounds: Record<string, number[]>, guide?: Guide): Row {
  const values = Object.fromEntries(Object.entries(rounds).map(([name, figures]) => [name, median(figures)]));
  const ours = rounds[GATEWAY];
  const base = rounds[BASE];
  const ratio = ours !== undefined && base !== undefined ? { ratio: medianRatio(ours, base) } : {};
  return { figure, values, ...ratio, ...(guide && { guide }) };
}

/** Undefined where there is no guide, or nothing to hold against it. */
export function isHeld({ guide, ratio, values }: Row): boolean | undefined {
  if (guide === undefined) return undefined;
  const reached = guide.of === "ratio" ? ratio : values[GATEWAY];
  if (reached === undefined || Number.isNaN(reached)) return undefined;
  return guide.of === "ratio" ? reached <= guide.limit : reached < guide.limit;
}
