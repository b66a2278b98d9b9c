import type { Trace } from "../trace/types.ts";
import { withGateway, withKeptWarm, withQueues } from "./change-farm.ts";
import type { LanFarm, LanWorker } from "./farm.ts";

export interface NamedFarm {
  name: string;
  farm: LanFarm;
}

/** The last of the baselines keeps so many copies of the model that is asked for most and can be at two workers. */
const COPIES = 2;

/**
 * The farm as it would be with less, and with more: turns regardless of what is loaded and queues in order of arrival;
 * warm first and greedy queues; the same with a second warm copy of the model that is asked for most, where two have it.
 */
export function baselines(farm: LanFarm, trace: Trace): NamedFarm[] {
  const plain = withGateway(farm, (gateway) => ({ ...gateway, models: { ...gateway.models, keepWarm: {} } }));
  const turns = withGateway(plain, (gateway) => ({
    ...gateway,
    routing: { strategy: "round-robin", affinity: false, waitOrSwap: false },
  }));
  const first = withQueues({ ...turns, ignoresResidency: true }, () => ({ policy: "fifo" }));
  const warmFirst = withQueues(plain, () => ({ policy: "greedy" }));
  const doubled = mostAsked(trace).find((model) => workersWith(farm, model) >= COPIES);
  return [
    { name: "round-robin, arrival order", farm: first },
    { name: "warm first, greedy", farm: warmFirst },
    ...(doubled === undefined
      ? []
      : [{ name: `the same, ${doubled} kept warm twice`, farm: withKeptWarm(warmFirst, doubled, COPIES) }]),
  ];
}

function workersWith({ workers }: LanFarm, model: string): number {
  const has = (worker: LanWorker) =>
    worker.kind === "agent"
      ? worker.models.some(({ served }) => served.name === model)
      : worker.options.models.some(({ name }) => name === model);
  return workers.filter(has).length;
}

/** The names of the trace, the most asked for first. */
export function mostAsked({ applications, app }: Trace): string[] {
  const counts = new Uint32Array(applications.length);
  for (const one of app) counts[one] = (counts[one] ?? 0) + 1;
  return applications
    .map((name, i) => ({ name, count: counts[i] ?? 0 }))
    .sort((a, b) => b.count - a.count)
    .map(({ name }) => name);
}
