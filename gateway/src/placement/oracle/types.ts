/** How a model is asked, over a while. Lengths in tokens. */
export interface ModelLoad {
  requestsPerSecond: number;
  inputMean: number;
  inputVariance: number;
  outputMean: number;
  outputVariance: number;
}

/** What a Gaussian process says of one value: a normal distribution. */
export interface Prediction {
  mean: number;
  variance: number;
}

/**
 * What a replica takes of its bins, or a bin has. `memory` in bytes; `compute` and `bandwidth` in reference devices: 1 is
 * all the time of one, a device twice as fast has 2.
 */
export interface Resources {
  memory: number;
  compute: number;
  bandwidth: number;
}

export type ResourcePredictions = Readonly<Record<keyof Resources, Prediction>>;

/** Load -> what it takes. */
export interface CapacityView {
  /** For the whole load of the model, whoever serves it. Of a model never seen: the prior. */
  predict(model: string, load: ModelLoad): ResourcePredictions;
}

/** Load and replicas -> the share of its requests that is on time, 0 to 1. */
export interface ElasticityView {
  predict(model: string, load: ModelLoad, replicas: number): Prediction;
}
