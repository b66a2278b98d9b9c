import type { EngineParameters } from "./parameters.ts";
import type { ClusterShape, ModelProfile } from "./types.ts";

/** The part of a replica's weights that a step of so many tokens reads: all of a dense model, of experts those that are hit. */
export function touchedBytes(model: ModelProfile, tokens: number): number {
  const { weightBytes, activeWeightBytes = weightBytes } = model;
  if (activeWeightBytes >= weightBytes) return weightBytes;
  return weightBytes * (1 - (1 - activeWeightBytes / weightBytes) ** tokens);
}

/**
 * Milliseconds of an undisturbed replica for a prompt, of which it has the first `cached` tokens. The others are bound by
 * compute; few are bound by reading the weights once.
 */
export function prefillMs(
  model: ModelProfile,
  shape: ClusterShape,
  parameters: EngineParameters,
  tokens: number,
  cached = 0,
): number {
  const read = Math.max(1, tokens - cached);
  const operations = 2 * model.activeParameters * read * (1 + (tokens + cached) / parameters.attentionTokens);
  const computing = operations / (model.tensorParallel * shape.deviceCompute);
  const reading = touchedBytes(model, read) / (model.tensorParallel * shape.deviceBandwidth);
  return 1000 * Math.max(computing, reading) + parameters.prefillConstantMs;
}

/** Milliseconds of an undisturbed replica for one token of each of `batch` requests, whose tokens so far are `context` in all. */
export function stepMs(
  model: ModelProfile,
  shape: ClusterShape,
  parameters: EngineParameters,
  batch: number,
  context: number,
): number {
  const read = touchedBytes(model, batch) + model.kvBytesPerToken * context;
  const reading = read / (model.tensorParallel * shape.deviceBandwidth);
  const computing = (2 * model.activeParameters * batch) / (model.tensorParallel * shape.deviceCompute);
  return 1000 * (reading + computing) + parameters.stepConstantMs;
}
