import type { Trace } from "../trace/types.ts";
import { withGateway, withKeptWarm, withQueues } from "./change-farm.ts";
import type { LanFarm } from "./farm.ts";

export interface NamedFarm {
  name: string;
  farm: LanFarm;
}

/**
 * The farm as it would be with less, and with more: turns regardless of what is loaded and queues in order of arrival;
 * warm first and greedy queues; the same with a warm copy of the model kept that is asked for most.
 */
export function baselines(farm: LanFarm, trace: Trace): NamedFarm[] {
  const plain = withGateway(farm, (gateway) => ({ ...gateway, models: { ...gateway.models, keepWarm: {} } }));
  const turns = withGateway(plain, (gateway) => ({
    ...gateway,
    routing: { strategy: "round-robin", affinity: false, waitOrSwap: false },
  }));
  const first = withQueues({ ...turns, ignoresResidency: true }, () => ({ policy: "fifo" }));
  const warmFirst = withQueues(plain, () => ({ policy: "greedy" }));
  const [most] = mostAsked(trace);
  const kept =
    most === undefined ? null : { name: `the same, ${most} kept warm`, farm: withKeptWarm(warmFirst, most, 1) };
  return [
    { name: "round-robin, arrival order", farm: first },
    { name: "warm first, greedy", farm: warmFirst },
    ...(kept === null ? [] : [kept]),
  ];
}

/** The names of the trace, the most asked for first. */
function mostAsked({ applications, app }: Trace): string[] {
  const counts = new Uint32Array(applications.length);
  for (const one of app) counts[one] = (counts[one] ?? 0) + 1;
  return applications
    .map((name, i) => ({ name, count: counts[i] ?? 0 }))
    .sort((a, b) => b.count - a.count)
    .map(({ name }) => name);
}
