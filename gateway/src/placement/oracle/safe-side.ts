import type { Prediction, ResourcePredictions, Resources } from "./types.ts";

/** What a demand will hardly exceed: mean + k deviations. */
export function upper({ mean, variance }: Prediction, k: number): number {
  return mean + k * Math.sqrt(variance);
}

/** What a share will hardly fall below: mean - k deviations. May be below zero. */
export function lower({ mean, variance }: Prediction, k: number): number {
  return mean - k * Math.sqrt(variance);
}

/** `upper` of all three. */
export function safeDemand(predictions: ResourcePredictions, k: number): Resources {
  const { memory, compute, bandwidth } = predictions;
  return { memory: upper(memory, k), compute: upper(compute, k), bandwidth: upper(bandwidth, k) };
}

/**
 * The smallest number of replicas, 1 to `most`, with which the share on time is `target` on the safe side; null: not even
 * `most` are enough.
 *
 * More replicas never make requests late, but a learned curve may dip. The bound of n replicas is therefore the best of
 * those up to n (a running maximum), and the first that reaches the target is the answer: a search by halves over the bare
 * curve could end beside it.
 */
export function smallestReplicas(
  onTime: (replicas: number) => Prediction,
  most: number,
  target: number,
  k: number,
): number | null {
  for (let replicas = 1; replicas <= most; replicas += 1) {
    if (lower(onTime(replicas), k) >= target) return replicas;
  }
  return null;
}
