import type { ModelLoad } from "@farmgate/gateway/policies";
import type { Application, ClusterShape } from "../types.ts";
import { spanOf } from "./spans.ts";

/** What one instance can do by arithmetic, before anything was measured: a policy's offline profile of a model. */
export interface Speeds {
  /** Prompt tokens a second, when it does nothing else. */
  prefill: number;
  /** Output tokens a second, when it does nothing else and every token comes within the limit. */
  decode: number;
  /** Requests that it works at then. */
  batch: number;
}

/** @param context Tokens that a request has in memory on average. */
export function speedsOf(shape: ClusterShape, { model, tpotMs }: Application, context: number): Speeds {
  const { tensorParallel, dataParallel, activeParameters, weightBytes, kvBytesPerToken } = model;
  const compute = shape.deviceCompute * tensorParallel;
  const bandwidth = shape.deviceBandwidth * tensorParallel;
  const memory = shape.deviceMemory * tensorParallel - weightBytes;
  const step = tpotMs / 1000;
  // A step reads the weights once and each request's state, and computes one token for each.
  const byBandwidth = (step * bandwidth - weightBytes) / (context * kvBytesPerToken);
  const byMemory = memory / (context * kvBytesPerToken);
  const byCompute = (step * compute) / (2 * activeParameters);
  const batch = Math.max(1, Math.floor(Math.min(byBandwidth, byMemory, byCompute))) * dataParallel;
  return { prefill: (compute / (2 * activeParameters)) * dataParallel, decode: batch / step, batch };
}

/** How many instances a load keeps busy, with prefill on some and decode on others. Not rounded. */
export interface Busy {
  prefill: number;
  decode: number;
}

export function busyInstances(shape: ClusterShape, application: Application, load: ModelLoad): Busy {
  const speeds = speedsOf(shape, application, load.inputMean + load.outputMean / 2);
  return {
    prefill: (load.requestsPerSecond * load.inputMean) / speeds.prefill,
    decode: (load.requestsPerSecond * load.outputMean) / speeds.decode,
  };
}

/** How many devices a load keeps busy. Not rounded. */
export function busyDevices(shape: ClusterShape, application: Application, load: ModelLoad): number {
  const busy = busyInstances(shape, application, load);
  return (busy.prefill + busy.decode) * spanOf(application.model);
}
