import type { GatewayConfig } from "@farmgate/gateway";
import type { Trace } from "../trace/types.ts";
import { withGateway, withKeptWarm, withQueues } from "./change-farm.ts";
import type { LanFarm } from "./farm.ts";

export interface NamedFarm {
  name: string;
  farm: LanFarm;
}

/**
 * The farm as it would be with less, and with more: turns regardless of what is loaded and queues in order of arrival;
 * warm first and greedy queues; the same with waits weighed against loads; with who is on time first, by the `targetMs` of
 * the run; with models placed by what is asked; with a warm copy of the model kept that is asked for most.
 */
export function baselines(farm: LanFarm, trace: Trace, targetMs: number): NamedFarm[] {
  const plain = withGateway(farm, (gateway) => ({
    ...gateway,
    models: { ...gateway.models, keepWarm: {} },
    scheduling: "greedy",
    placement: { ...gateway.placement, mode: "off" },
  }));
  const turns = withGateway(plain, (gateway) => ({
    ...gateway,
    routing: { strategy: "round-robin", affinity: false, waitOrSwap: false },
  }));
  const first = withQueues({ ...turns, ignoresResidency: true }, () => ({ policy: "fifo" }));
  const warmFirst = withQueues(
    withGateway(plain, ({ routing, ...gateway }) => ({ ...gateway, routing: { ...routing, waitOrSwap: false } })),
    () => ({ policy: "greedy" }),
  );
  const warmWith = (name: string, change: (gateway: GatewayConfig) => GatewayConfig): NamedFarm => ({
    name: `warm first, greedy, ${name}`,
    farm: withGateway(warmFirst, change),
  });
  const [most] = mostAsked(trace);
  const kept =
    most === undefined
      ? null
      : { name: `warm first, greedy, ${most} kept warm`, farm: withKeptWarm(warmFirst, most, 1) };
  return [
    { name: "round-robin, arrival order", farm: first },
    { name: "warm first, greedy", farm: warmFirst },
    warmWith("waitOrSwap", (gateway) => ({ ...gateway, routing: { ...gateway.routing, waitOrSwap: true } })),
    warmWith("scheduling: deadline", (gateway) => ({
      ...gateway,
      scheduling: "deadline",
      deadlines: { ...gateway.deadlines, firstByte: targetMs },
    })),
    warmWith("placement: auto", (gateway) => ({
      ...gateway,
      placement: { ...gateway.placement, mode: "auto", target: targetMs },
    })),
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
