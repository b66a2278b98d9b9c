// Gateways in front of the same workers, each a process of its own.
import type { Children } from "../../bench/process/children.ts";
import { freePorts } from "../../harness/free-ports.ts";
import { type Program, startProgram } from "../../soak/farm/programs.ts";
import type { CountingWorker } from "./counting-worker.ts";

export interface Farm {
  workers: readonly CountingWorker[];
  /** Of each worker, in their order. */
  weights?: readonly number[];
  caps?: readonly number[];
  redis?: string;
  /** Seconds between two polls. */
  interval?: number;
}

export async function startGateways(children: Children, count: number, farm: Farm): Promise<Program[]> {
  const { workers, weights, caps, redis, interval = 5 } = farm;
  const ports = await freePorts(count);
  const config = {
    health: { interval: `${interval}s` },
    limits: { queue: 10_000, connections: 0 },
    workers: workers.map(({ name, url }, i) => ({
      name,
      url,
      engine: "openai",
      ...(weights !== undefined && { weight: weights[i] }),
      ...(caps !== undefined && { maxConcurrent: caps[i] }),
    })),
    ...(redis !== undefined && { redis }),
  };
  return Promise.all(
    ports.map((port, i) => startProgram(children, "gateway", `gateway-${i + 1}`, { listen: { port }, ...config })),
  );
}

interface Health {
  status: string;
  inflight: number;
  together?: { members: number; trouble: string | null };
}

/** null: it does not answer. */
export async function healthOf({ url }: Program): Promise<Health | null> {
  return fetch(`${url}/health`).then(
    (answer) => answer.json() as Promise<Health>,
    () => null,
  );
}

/** Each of them hears as many as there are. */
export async function areTogether(gateways: readonly Program[]): Promise<boolean> {
  const healths = await Promise.all(gateways.map(healthOf));
  return healths.every((one) => one?.together?.trouble === null && one.together.members === gateways.length);
}
