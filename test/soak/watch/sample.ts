// What one process takes at one moment.
import { openFiles } from "../../bench/process/proc-stat.ts";
import type { Program } from "../farm/programs.ts";
import { sumOf } from "./prometheus.ts";

export interface Sample {
  /** Milliseconds since the soak began. */
  at: number;
  fds: number;
  /** Bytes. */
  resident: number;
  heap: number;
  external: number;
  inflight: number;
  queued: number;
}

const INFLIGHT = ["farmgate_inflight", "farmgate_agent_inflight"];
const QUEUED = ["farmgate_queue_depth", "farmgate_agent_queue_depth"];

export async function sampleOf({ url, pid }: Program, at: number): Promise<Sample> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const sum = (metrics: string[]) => metrics.reduce((total, metric) => total + sumOf(text, metric), 0);
  return {
    at,
    fds: openFiles(pid),
    resident: sumOf(text, "process_resident_memory_bytes"),
    heap: sumOf(text, "nodejs_heap_size_used_bytes"),
    external: sumOf(text, "nodejs_external_memory_bytes"),
    inflight: sum(INFLIGHT),
    queued: sum(QUEUED),
  };
}
