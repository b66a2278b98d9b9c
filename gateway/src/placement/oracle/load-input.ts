import type { ModelLoad } from "./types.ts";

/** Requests a second that count as none. */
const IDLE = 1e-3;

/**
 * A load as the processes see it: logarithms of the rate and of the mean lengths, and of 1 + the squared coefficient of
 * variation of each, so that what matters in proportion is a distance.
 */
export function loadInput(load: ModelLoad): number[] {
  const { requestsPerSecond, inputMean, inputVariance, outputMean, outputVariance } = load;
  return [
    Math.log(requestsPerSecond + IDLE),
    Math.log1p(inputMean),
    Math.log1p(inputVariance / (1 + inputMean) ** 2),
    Math.log1p(outputMean),
    Math.log1p(outputVariance / (1 + outputMean) ** 2),
  ];
}

/** The inverse of `loadInput`. */
export function loadOf(input: readonly number[]): ModelLoad {
  const [rate, inputMean, inputVariation, outputMean, outputVariation] = input as [
    number,
    number,
    number,
    number,
    number,
  ];
  return {
    requestsPerSecond: Math.max(Math.exp(rate) - IDLE, 0),
    inputMean: Math.expm1(inputMean),
    inputVariance: Math.expm1(inputVariation) * Math.exp(2 * inputMean),
    outputMean: Math.expm1(outputMean),
    outputVariance: Math.expm1(outputVariation) * Math.exp(2 * outputMean),
  };
}

/** Whether it can be learned from and asked for: all finite, none below zero, and none beyond what a farm can have. */
export function isLoad(load: ModelLoad): boolean {
  const { requestsPerSecond, inputMean, inputVariance, outputMean, outputVariance } = load;
  const lengths = [inputMean, outputMean].every((value) => value >= 0 && value <= 1e9);
  const variances = [inputVariance, outputVariance].every((value) => value >= 0 && value <= 1e18);
  return requestsPerSecond >= 0 && requestsPerSecond <= 1e9 && lengths && variances;
}
