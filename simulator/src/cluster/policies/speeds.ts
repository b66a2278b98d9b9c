import type { ModelLoad } from "@farmgate/gateway/policies";
import { ENGINE_PARAMETERS } from "../parameters.ts";
import { prefillMs, stepMs } from "../timing.ts";
import type { Application, ClusterShape } from "../types.ts";
import { spanOf } from "./spans.ts";

/** What one instance can do when nobody disturbs it: a policy's profile of a model, made before anything is served. */
export interface Speeds {
  /** Prompt tokens a second, when it does nothing else. */
  prefill: number;
  /** Output tokens a second, when it does nothing else and every token comes within the limit. */
  decode: number;
  /** Requests that it works at then. */
  batch: number;
}

/** @param load For its lengths. */
export function speedsOf(shape: ClusterShape, { model, tpotMs }: Application, load: ModelLoad): Speeds {
  const prompt = Math.max(1, load.inputMean);
  const context = prompt + load.outputMean / 2;
  const memory = shape.deviceMemory * model.tensorParallel - model.weightBytes;
  const step = (batch: number) => stepMs(model, shape, ENGINE_PARAMETERS, batch, batch * context);
  let batch = Math.max(1, Math.min(ENGINE_PARAMETERS.maxBatch, Math.floor(memory / (context * model.kvBytesPerToken))));
  while (batch > 1 && step(batch) > tpotMs) batch -= 1;
  return {
    prefill: (1000 * prompt * model.dataParallel) / prefillMs(model, shape, ENGINE_PARAMETERS, prompt),
    decode: (1000 * batch * model.dataParallel) / Math.max(step(batch), 1e-9),
    batch: batch * model.dataParallel,
  };
}

/** How many instances a load keeps busy, with prefill on some and decode on others. Not rounded. */
export interface Busy {
  prefill: number;
  decode: number;
}

export function busyInstances(shape: ClusterShape, application: Application, load: ModelLoad): Busy {
  const speeds = speedsOf(shape, application, load);
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
