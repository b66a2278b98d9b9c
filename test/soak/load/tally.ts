// Counts of ends, by kind of request. Pure.
import type { Verdict } from "./verdict.ts";

export interface Tally {
  requests: number;
  whole: number;
  left: number;
  lost: number;
  /** By what was told. */
  told: Record<string, number>;
  /** Whole answers by kind. */
  kinds: Record<string, number>;
  /** The first of the lost, in words. */
  examples: string[];
}

const MOST_EXAMPLES = 10;

export function emptyTally(): Tally {
  return { requests: 0, whole: 0, left: 0, lost: 0, told: {}, kinds: {}, examples: [] };
}

export function count(tally: Tally, kind: string, verdict: Verdict, about: string): void {
  tally.requests += 1;
  switch (verdict.end) {
    case "told":
      tally.told[verdict.as] = (tally.told[verdict.as] ?? 0) + 1;
      break;
    case "lost":
      tally.lost += 1;
      if (tally.examples.length < MOST_EXAMPLES) tally.examples.push(`${kind} ${about}: ${verdict.why}`);
      break;
    case "whole":
      tally.kinds[kind] = (tally.kinds[kind] ?? 0) + 1;
      tally.whole += 1;
      break;
    case "left":
      tally.left += 1;
  }
}

export function toldOf({ told }: Tally): number {
  return Object.values(told).reduce((sum, times) => sum + times, 0);
}
