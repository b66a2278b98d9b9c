import type { Catalog } from "../../catalog/types.ts";
import type { Observations } from "./observations.ts";

/** How fast a worker is beside the others of the farm: 1 is one like the mean of them. */
export interface WorkerSpeed {
  compute: number;
  bandwidth: number;
}

export const LIKE_OTHERS: WorkerSpeed = { compute: 1, bandwidth: 1 };

/** By the models that several of them were seen with; one that shares none is taken to be like the others. */
export function workerSpeeds(catalog: Catalog, seen: Observations, keys: readonly string[]): Map<string, WorkerSpeed> {
  const compute = new Map<string, number[]>();
  const bandwidth = new Map<string, number[]>();
  for (const key of keys) {
    addRatios(compute, catalog, (worker) => seen.pair(worker, key)?.inputRate ?? null);
    addRatios(bandwidth, catalog, (worker) => seen.pair(worker, key)?.outputRate ?? null);
  }
  return new Map(
    catalog.workers.map(({ config: { name } }) => [
      name,
      { compute: meanOf(compute.get(name)) ?? 1, bandwidth: meanOf(bandwidth.get(name)) ?? 1 },
    ]),
  );
}

function addRatios(ratios: Map<string, number[]>, catalog: Catalog, rateOf: (worker: string) => number | null): void {
  const rates: [string, number][] = [];
  for (const { config } of catalog.workers) {
    const rate = rateOf(config.name);
    if (rate !== null) rates.push([config.name, rate]);
  }
  const mean = meanOf(rates.map(([, rate]) => rate));
  if (mean === null || rates.length < 2) return;
  for (const [worker, rate] of rates) ratios.set(worker, [...(ratios.get(worker) ?? []), rate / mean]);
}

function meanOf(values: readonly number[] | undefined): number | null {
  if (values === undefined || values.length === 0) return null;
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
