import { readdir, readFile } from "node:fs/promises";
import type { FarmgateProcess } from "../../harness/farmgate-process.ts";
import { getJson } from "../../harness/ask.ts";
import { until } from "../../harness/until.ts";

/** What is under test: a gateway or an agent, its own process. */
export interface Front {
  kind: "gateway" | "agent";
  url: string;
  process: FarmgateProcess;
}

/** What is under way there, in words; empty: nothing. */
async function underWay({ kind, url }: Front): Promise<string> {
  if (kind === "agent") {
    const { inflight, queue_depth: queue } = await getJson<{ inflight: number; queue_depth: number }>(`${url}/health`);
    return inflight + queue === 0 ? "" : `${inflight} in flight, ${queue} in the queue`;
  }
  const { workers } = await getJson<{ workers: { name: string; inflight: number }[] }>(`${url}/farm/workers`);
  const { requests } = await getJson<{ requests: object[] }>(`${url}/farm/requests`);
  const metrics = await (await fetch(`${url}/metrics`)).text();
  const waiting = Number(/^farmgate_queue_depth (\d+)/m.exec(metrics)?.[1] ?? Number.NaN);
  const busy = workers
    .filter(({ inflight }) => inflight !== 0)
    .map(({ name, inflight }) => `${name}: ${inflight} in flight`);
  if (requests.length > 0) busy.push(`${requests.length} requests`);
  if (waiting !== 0) busy.push(`${waiting} waiting`);
  return busy.join(", ");
}

/** As `underWay`; a door that is shut, as it may be while callers hold all of its places, is no rest either. */
async function trouble(front: Front): Promise<string> {
  try {
    return await underWay(front);
  } catch (error) {
    return `the ${front.kind} does not answer: ${String(error)}`;
  }
}

/** Resolves with what is wrong after a round: null where all has come to rest. */
export async function unrest(front: Front, ceilingMs: number = 8_000): Promise<string | null> {
  const { child } = front.process;
  if (child.exitCode !== null || child.signalCode !== null) return `the ${front.kind} has ended`;
  let last = "";
  try {
    await until(async () => (last = await trouble(front)) === "", "rest", ceilingMs);
    return null;
  } catch {
    return last;
  }
}

export interface Footprint {
  fds: number;
  /** Resident, in megabytes. */
  rssMb: number;
}

export async function footprint({ process: { child } }: Front): Promise<Footprint> {
  const fds = await readdir(`/proc/${child.pid}/fd`);
  const status = await readFile(`/proc/${child.pid}/status`, "utf8");
  return { fds: fds.length, rssMb: Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024) };
}
