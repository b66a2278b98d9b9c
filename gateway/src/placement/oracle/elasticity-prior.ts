import type { FullFacts, ReferenceDevice } from "./model-facts.ts";
import type { ModelLoad } from "./types.ts";

/** How much of a replica's time is taken when half of the requests are late, and how steep the fall is there. */
const HALF = 0.9;
const STEEPNESS = 4;

/**
 * The share on time: a queue is harmless until its servers are nearly busy, then all are late. A logistic in the logarithm
 * of how busy a replica is, which is the work of its part of the load, in full batches.
 */
export function elasticityPrior(facts: FullFacts, device: ReferenceDevice, ofReplica: ModelLoad): number {
  const { requestsPerSecond: rate, inputMean, outputMean, outputVariance } = ofReplica;
  const { weightBytes, activeParameters, kvBytesPerToken, span, batch } = facts;
  const context = inputMean + (outputMean + outputVariance / Math.max(outputMean, 1)) / 2;
  const compute = (2 * activeParameters * (inputMean + outputMean)) / device.compute;
  const bandwidth = (outputMean * (weightBytes / batch + context * kvBytesPerToken)) / device.bandwidth;
  const busy = (rate * (compute + bandwidth)) / span;
  return 1 / (1 + (busy / HALF) ** STEEPNESS);
}

/** Of the angle (see `angleOf`): little where nearly all should be on time or late, much in between. */
export function elasticityDeviation(facts: FullFacts, share: number): number {
  const between = 2 * Math.sqrt(share * (1 - share));
  return facts.isGuessed ? 0.15 + 0.35 * between : 0.1 + 0.3 * between;
}
