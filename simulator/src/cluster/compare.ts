import { Collector } from "../report/collector.ts";
import type { Report } from "../report/types.ts";
import type { PolicyName } from "./names.ts";
import { createPolicy } from "./policies/by-name.ts";
import type { Scenario } from "./scenario.ts";
import { runCluster } from "./world.ts";

export interface RunMeasures {
  /** Milliseconds of real time. */
  now(): number;
  /** Bytes that the program holds. */
  memory(): number;
  /** Called every so often with the requests that have ended. */
  onProgress?(ended: number, total: number): void;
}

/**
 * Runs a scenario under a policy. In the report's `run`, beside what the cluster counts: `seconds`, `eventsPerSecond`,
 * `peakBytes` of the program, `dayHours` (device-hours of the day that the run stands for), and the mean devices in use
 * by part as `devices.day`, and the policy's actions that could not be as `refused: reason`.
 */
export function runPolicy(scenario: Scenario, name: PolicyName, seed: number, measures: RunMeasures): Report {
  const { applications, spanMs, trace, shape, parts, demand, compression } = scenario;
  const collector = new Collector({ applications, spanMs, parts });
  const policy = createPolicy(name, { seed, demand });
  const began = measures.now();
  let peakBytes = measures.memory();
  let calls = 0;
  const { endedAt, counts, refusals } = runCluster({
    trace,
    applications,
    shape,
    policy,
    collector,
    seed,
    onProgress(ended, total) {
      calls += 1;
      // Asking takes longer than many events do.
      if (calls % 64 === 0) peakBytes = Math.max(peakBytes, measures.memory());
      measures.onProgress?.(ended, total);
    },
  });
  const seconds = (measures.now() - began) / 1000;
  const report = collector.report(name, endedAt, {
    ...counts,
    seconds,
    eventsPerSecond: counts.events / Math.max(seconds, 1e-9),
    peakBytes,
    ...Object.fromEntries(Object.entries(refusals).map(([why, count]) => [`refused: ${why}`, count])),
  });
  report.run["dayHours"] = report.devices.hours * compression;
  for (const [part, devices] of Object.entries(devicesByPart(report, scenario)))
    report.run[`devices.${part}`] = devices;
  return report;
}

/** Mean devices in use in each part of the trace. */
function devicesByPart({ windows }: Report, { parts }: Scenario): Record<string, number> {
  const sums: Record<string, { devices: number; windows: number }> = {};
  for (const [window, devices] of windows.devices.entries()) {
    const middle = (window + 0.5) * windows.windowMs;
    const part = parts.find(({ from, to }) => from <= middle && middle < to);
    if (part === undefined) continue;
    const sum = (sums[part.name] ??= { devices: 0, windows: 0 });
    sum.devices += devices;
    sum.windows += 1;
  }
  return Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, sum.devices / sum.windows]));
}
