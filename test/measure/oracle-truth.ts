import type { ModelLoad, Resources } from "@farmgate/gateway/policies";
import type { Random } from "@farmgate/shared";

/** A device of the synthetic farm: operations and bytes per second. */
export const DEVICE = { compute: 50e12, bandwidth: 500e9 };

/** A synthetic model. The Oracles are told its size alone, not what it really does with it. */
export interface TrueModel {
  weightBytes: number;
  activeParameters: number;
  kvBytesPerToken: number;
  /** Shares of what a device can do that this model really reaches. */
  reached: { compute: number; bandwidth: number };
  /** Requests that a replica serves at once. */
  slots: number;
  /** Seconds that a request may wait. */
  patience: number;
}

/** From 1 to 70 billion parameters at one or two bytes, each as well or badly served as it may be. */
export function someModel(random: Random): TrueModel {
  const activeParameters = 1e9 * 70 ** random();
  return {
    weightBytes: activeParameters * (random() < 0.5 ? 1 : 2),
    activeParameters,
    kvBytesPerToken: 40_000 * Math.sqrt(activeParameters / 1e9) * (0.5 + random()),
    reached: { compute: 0.4 + 0.5 * random(), bandwidth: 0.5 + 0.4 * random() },
    slots: 4 + Math.floor(28 * random()),
    patience: 0.5 + 4 * random(),
  };
}

/** From nearly idle to eight busy replicas; lengths from chat to long documents, of a variation from 0.3 to 2. */
export function someLoad(model: TrueModel, random: Random): ModelLoad {
  const inputMean = 100 * 60 ** random();
  const outputMean = 30 * 20 ** random();
  const variation = () => (0.3 + 1.7 * random()) ** 2;
  const inputVariance = inputMean ** 2 * variation();
  const outputVariance = outputMean ** 2 * variation();
  const load = { requestsPerSecond: 0, inputMean, inputVariance, outputMean, outputVariance };
  const busy = 0.02 * 400 ** random();
  return { ...load, requestsPerSecond: (busy * model.slots) / serviceSeconds(model, load) };
}

/** Of one request in a batch of half the slots: its prefill, and a step a token that reads the weights and the caches. */
function serviceSeconds(model: TrueModel, { inputMean, outputMean }: ModelLoad): number {
  const { weightBytes, activeParameters, kvBytesPerToken, reached, slots } = model;
  const prefill = (2 * activeParameters * inputMean) / (DEVICE.compute * reached.compute);
  const read = weightBytes + (slots / 2) * kvBytesPerToken * (inputMean + outputMean / 2);
  return prefill + (outputMean * read) / (DEVICE.bandwidth * reached.bandwidth);
}

/**
 * What the whole load takes: the weights and the caches of the requests under way (with a fifth lost to pages that are
 * not full); prefill and decode, and the attention that grows with the square of the input; steps as long as anything is
 * decoded, which read the weights, and the caches.
 */
export function takes(model: TrueModel, load: ModelLoad): Resources {
  const { weightBytes, activeParameters, kvBytesPerToken, reached } = model;
  const { requestsPerSecond: rate, inputMean, inputVariance, outputMean, outputVariance } = load;
  const context = inputMean + (outputMean + outputVariance / outputMean) / 2;
  const underWay = rate * serviceSeconds(model, load);
  const attention = 1 + (inputMean + inputVariance / inputMean) / 20_000;
  const operations = 2 * activeParameters * rate * (inputMean * attention + outputMean);
  const caches = rate * outputMean * context * kvBytesPerToken;
  return {
    memory: weightBytes * 1.05 + 1.2 * underWay * context * kvBytesPerToken,
    compute: operations / (DEVICE.compute * reached.compute),
    bandwidth: -Math.expm1(-underWay) + caches / (DEVICE.bandwidth * reached.bandwidth),
  };
}

/**
 * The share that waits no longer than the model's patience when `replicas` of its slots are one M/M/c queue: 1 - C
 * exp(-(1 - busy) c patience / service), C after Erlang. Scattered lengths wait longer (Allen-Cunneen). Overloaded, the
 * queue is kept just so long that it serves what it can.
 */
export function onTime(model: TrueModel, load: ModelLoad, replicas: number): number {
  const servers = model.slots * replicas;
  const service = serviceSeconds(model, load);
  const busy = (load.requestsPerSecond * service) / servers;
  const variation = 1 + load.outputVariance / load.outputMean ** 2;
  const late = (at: number) =>
    erlangC(servers, at) * Math.exp((-(1 - at) * servers * model.patience * 2) / (service * variation));
  const edge = 0.97;
  return busy < edge ? 1 - late(busy) : ((1 - late(edge)) * edge) / busy;
}

/** The chance that all of c servers, each busy for this share of time, are taken. */
function erlangC(servers: number, busy: number): number {
  const load = servers * busy;
  let blocked = 1;
  for (let c = 1; c <= servers; c += 1) blocked = (load * blocked) / (c + load * blocked);
  return blocked / (1 - busy * (1 - blocked));
}

/** Normal by Box and Muller. */
export function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** A share as it is counted in a window of so many requests. */
export function counted(share: number, requests: number, random: Random): number {
  let met = 0;
  for (let at = 0; at < requests; at += 1) if (random() < share) met += 1;
  return met / requests;
}
