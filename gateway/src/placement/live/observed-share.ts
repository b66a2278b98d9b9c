import type { Prediction } from "../oracle/types.ts";

/** How many copies served a model of late, and how many of its requests were on time. */
export interface ObservedShare {
  copies: number;
  /** There were as many all the while. */
  stood: boolean;
  share: number;
}

/** Of an observed share that is next to nothing, so that a second copy gains more than `LEAST_GAIN`. */
const LEAST = 0.1;

/**
 * What is expected of so many copies, by what was observed where requests are late: a queue that never ends slows down
 * who asks, so that the load alone looks bearable, and what was never tried is expected to be as bad.
 *
 * 1. On time, or nothing was observed: as predicted.
 * 2. Fewer copies than are late now are not enough.
 * 3. More serve at least as many more in proportion: up to twice as many, so that what they bring is seen before there are
 *    more still; while the copies are new, their own number.
 */
export function expectedShare(
  predict: (copies: number) => Prediction,
  copies: number,
  observed: ObservedShare | null,
  { share: target, caution }: { share: number; caution: number },
): Prediction {
  // 1
  if (observed === null || observed.copies === 0 || observed.share >= target) return predict(copies);
  // 2
  if (copies < observed.copies) return { mean: 0, variance: 0 };
  // 3
  const most = observed.stood ? 2 : 1;
  const least = Math.min(1, Math.max(LEAST, observed.share) * Math.min(most, copies / observed.copies));
  const predicted = predict(copies);
  const safe = predicted.mean - caution * Math.sqrt(Math.max(0, predicted.variance));
  return safe > least ? predicted : { mean: least, variance: 0 };
}
