import type { Rows } from "../report/comparison.ts";
import type { Percentiles } from "../report/log-histogram.ts";
import type { Report } from "../report/types.ts";

/** Policies on one cluster side by side: what the published system is measured by, a row each. Shares in percent, times in milliseconds. */
export function comparisonRows(reports: readonly Report[]): Rows {
  const parts = [...new Set(reports.flatMap((report) => report.parts.map(({ name }) => name)))];
  const columns: [string, (report: Report) => string][] = [
    ["policy", ({ name }) => name],
    ["on time", ({ attainment }) => percent(attainment)],
    ...parts.map((part): (typeof columns)[number] => [
      part,
      (report) => percent(report.parts.find(({ name }) => name === part)?.attainment ?? null),
    ]),
    ["mean app", ({ meanOfApplications }) => percent(meanOfApplications)],
    ["worst app", ({ worst }) => percent(worst?.attainment ?? null)],
    ["goodput/s", ({ windows }) => whole(meanOf(windows.goodput))],
    ["peak", ({ windows }) => whole(Math.max(0, ...windows.goodput))],
    ...parts.map((part): (typeof columns)[number] => [
      `devices ${part}`,
      ({ run }) => whole(run[`devices.${part}`] ?? 0),
    ]),
    ["device-h", ({ run }) => whole(run["dayHours"] ?? 0)],
    ["TTFT p50/p90/p99", ({ ttftMs }) => three(ttftMs)],
    ["per token", ({ tpotMs }) => three(tpotMs)],
    ["loads", ({ loads }) => String(Object.values(loads).reduce((sum, { count }) => sum + count, 0))],
    ["moves", ({ moves }) => String(moves)],
    ["evicted", ({ evictions }) => String(evictions)],
    ["refused", ({ outcomes }) => String(outcomes.refused)],
    ["timed out", ({ outcomes }) => String(outcomes["timed-out"])],
    ["TB moved", ({ bytesMoved }) => (bytesMoved / 1e12).toFixed(1)],
    ["events/s", ({ run }) => whole(run["eventsPerSecond"] ?? 0)],
    ["s", ({ run }) => (run["seconds"] ?? 0).toFixed(1)],
    ["MB", ({ run }) => whole((run["peakBytes"] ?? 0) / 1e6)],
  ];
  return {
    headings: columns.map(([heading]) => heading),
    rows: reports.map((report) => columns.map(([, cell]) => cell(report))),
  };
}

function percent(share: number | null): string {
  return share === null ? "-" : (100 * share).toFixed(1);
}

function whole(value: number): string {
  return String(Math.round(value));
}

function three(part: Percentiles | null): string {
  if (part === null) return "-";
  return [part.p50, part.p90, part.p99].map((value) => (value < 100 ? value.toFixed(1) : whole(value))).join("/");
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}
