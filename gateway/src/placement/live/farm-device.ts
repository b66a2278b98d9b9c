import type { Catalog } from "../../catalog/types.ts";
import { fullFacts, type ModelFacts, type ReferenceDevice, USUAL_DEVICE } from "../oracle/model-facts.ts";
import { memoryTold } from "./memory-told.ts";
import type { Observations } from "./observations.ts";

/** Answers at once that the Oracle takes a device for able to. */
const BATCH = 16;

/** What is known of a model before it is measured: its size, where a catalogue tells it. */
export function factsOf(catalog: Catalog, key: string): ModelFacts {
  const weightBytes = memoryTold(
    catalog.workers.filter(({ byKey }) => byKey.has(key)),
    key,
  );
  return weightBytes === null ? {} : { weightBytes };
}

/**
 * A worker like the mean of the farm, by the rates at which they were seen to answer; before any was, a usual one. By it a
 * model that was never measured is judged.
 *
 * `together`: bandwidth by what a worker writes of all its answers at once; else by what one answer gets and how many
 * the worker takes at once, which tells how many requests are on time.
 */
export function farmDevice(
  catalog: Catalog,
  seen: Observations,
  keys: readonly string[],
  together: boolean,
): ReferenceDevice {
  const compute: number[] = [];
  const bandwidth: number[] = [];
  for (const key of keys) {
    const { activeParameters, weightBytes } = fullFacts(factsOf(catalog, key));
    for (const { config, byKey } of catalog.workers) {
      const pair = seen.pair(config.name, key);
      if (pair === null) continue;
      const { inputRate, outputRate, answerRate } = pair;
      if (inputRate !== null) compute.push(2 * activeParameters * inputRate);
      const atOnce = Math.min(BATCH, byKey.get(key)?.slots ?? 1) / BATCH;
      const written = together ? outputRate : answerRate === null ? null : answerRate * atOnce;
      if (written !== null) bandwidth.push(weightBytes * written);
    }
  }
  return { compute: mean(compute) ?? USUAL_DEVICE.compute, bandwidth: mean(bandwidth) ?? USUAL_DEVICE.bandwidth };
}

function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}
