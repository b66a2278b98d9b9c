import { readdirSync } from "node:fs";
import process from "node:process";
import { openFilesLimit } from "./open-files.ts";

/** One figure of the running process, under the name that Prometheus clients give it. */
export interface ProcessGauge {
  name: string;
  help: string;
  /** The figure now. */
  read: () => number;
}

/** What a process takes, for both programs' metrics. Cheap enough for every scrape; nothing is watched between two. */
export const PROCESS_GAUGES: readonly ProcessGauge[] = [
  { name: "process_resident_memory_bytes", help: "Resident memory", read: () => process.memoryUsage.rss() },
  {
    name: "process_cpu_seconds_total",
    help: "User and system time since the start",
    read: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    },
  },
  { name: "process_open_fds", help: "Open files and sockets; 0 where the system does not tell", read: openFiles },
  { name: "process_max_fds", help: "Files and sockets that may be open at once", read: openFilesLimit },
  { name: "nodejs_heap_size_used_bytes", help: "Heap in use", read: () => process.memoryUsage().heapUsed },
  { name: "nodejs_heap_size_total_bytes", help: "Heap that is held", read: () => process.memoryUsage().heapTotal },
  { name: "nodejs_external_memory_bytes", help: "Memory beside the heap", read: () => process.memoryUsage().external },
];

function openFiles(): number {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    return 0;
  }
}
