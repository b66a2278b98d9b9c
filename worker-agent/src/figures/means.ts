import { movingMean } from "@farmgate/shared";

/** How much the newest value counts. */
const NEWEST = 0.3;
/** What is left of the maximum with each newer value: half after 138 of them. */
const KEPT = 0.995;

/** The mean of what is learned here with one value more; `before` null: the first one. */
export function mean(before: number | null, value: number): number {
  return movingMean(before, value, NEWEST);
}

/** A maximum that forgets: one extreme value does not count for ever. */
export function fadingMax(before: number, value: number): number {
  return Math.max(value, before * KEPT);
}
