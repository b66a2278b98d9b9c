import type { FullFacts, ReferenceDevice } from "./model-facts.ts";
import type { ModelLoad, Resources } from "./types.ts";

/** Values that count as none, so that each has a logarithm: a megabyte, a ten-thousandth of a device. */
export const FLOOR: Resources = { memory: 1e6, compute: 1e-4, bandwidth: 1e-4 };

/**
 * What a model is taken to need under a load, by its size:
 *
 * * compute: two operations a parameter and token;
 * * bandwidth: the weights once a step while anything is decoded at all, of which Little's law tells the share, and for
 *   each output token the cache of what is before it;
 * * memory: the weights, and the cache of the requests under way at once.
 */
export function capacityPrior(facts: FullFacts, device: ReferenceDevice, load: ModelLoad): Resources {
  const { requestsPerSecond: rate, inputMean, outputMean, outputVariance } = load;
  const { weightBytes, activeParameters, kvBytesPerToken } = facts;
  const compute = (2 * activeParameters * rate * (inputMean + outputMean)) / device.compute;
  // Of a token that is being written: what stands before it, and long answers are met more often.
  const context = inputMean + (outputMean + outputVariance / Math.max(outputMean, 1)) / 2;
  const cache = (rate * outputMean * context * kvBytesPerToken) / device.bandwidth;
  const perToken = (Math.min(weightBytes, 2 * activeParameters) + context * kvBytesPerToken) / device.bandwidth;
  const prefill = (2 * activeParameters * inputMean) / device.compute;
  const underWay = rate * (prefill + outputMean * perToken);
  return {
    memory: weightBytes + underWay * context * kvBytesPerToken,
    compute,
    bandwidth: -Math.expm1(-underWay) + cache,
  };
}

/**
 * Deviations of the logarithms. With a known size the memory is known within 15 %; compute and bandwidth within a factor
 * of 1.7. Of a guessed size, all within a factor of 2.
 */
export function capacityDeviation(facts: FullFacts): Resources {
  return facts.isGuessed
    ? { memory: 0.7, compute: 0.7, bandwidth: 0.7 }
    : { memory: 0.15, compute: 0.5, bandwidth: 0.5 };
}
