import type { Random } from "@farmgate/shared";
import * as fc from "fast-check";
import type { ModelLoad } from "../../../src/policies.ts";

export const load: ModelLoad = {
  requestsPerSecond: 2,
  inputMean: 800,
  inputVariance: 640_000,
  outputMean: 200,
  outputVariance: 20_000,
};

/** Any load that a caller may come with, the absurd ones too. */
export const loads: fc.Arbitrary<ModelLoad> = fc.record({
  requestsPerSecond: fc.oneof(fc.constantFrom(0, 1e-300, 1e9), fc.double({ min: 0, max: 1000, noNaN: true })),
  inputMean: fc.oneof(fc.constantFrom(0, 1e9), fc.double({ min: 0, max: 1e5, noNaN: true })),
  inputVariance: fc.oneof(fc.constantFrom(0, 1e18), fc.double({ min: 0, max: 1e9, noNaN: true })),
  outputMean: fc.oneof(fc.constantFrom(0, 1e9), fc.double({ min: 0, max: 1e4, noNaN: true })),
  outputVariance: fc.oneof(fc.constantFrom(0, 1e18), fc.double({ min: 0, max: 1e8, noNaN: true })),
});

export function someLoad(random: Random): ModelLoad {
  const inputMean = 200 + 2000 * random();
  const outputMean = 50 + 400 * random();
  return {
    requestsPerSecond: Math.exp(4 * random() - 2),
    inputMean,
    inputVariance: inputMean ** 2,
    outputMean,
    outputVariance: outputMean ** 2 / 2,
  };
}
