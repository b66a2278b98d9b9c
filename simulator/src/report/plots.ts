import { type Axis, type Line, lineChart } from "./svg/line-chart.ts";
import type { Report } from "./types.ts";

const MINUTE_MS = 60_000;

/** Plots of runs over one another, as SVG files by their names. */
export function plots(reports: readonly Report[]): Record<string, string> {
  const time: Axis = { label: "minutes", least: 0 };
  const over = (figure: (report: Report) => readonly (number | null)[]) =>
    reports.map((report): Line => {
      const points = figure(report).map((y, i) => ({ x: (i * report.windows.windowMs) / MINUTE_MS, y }));
      return { name: report.name, points };
    });
  return {
    "attainment.svg": lineChart({
      title: "Requests on time, by arrival",
      x: time,
      y: { label: "share", least: 0, most: 1 },
      lines: over(({ windows }) => windows.attainment),
    }),
    "goodput.svg": lineChart({
      title: "Requests that ended on time, and all that came",
      x: time,
      y: { label: "per second", least: 0 },
      lines: [
        ...over(({ windows }) => windows.goodput),
        ...over(({ windows }) => windows.arrived)
          .slice(0, 1)
          .map(({ points }) => ({ name: "came", points })),
      ],
    }),
    "devices.svg": lineChart({
      title: "Devices in use",
      x: time,
      y: { label: "devices", least: 0 },
      lines: over(({ windows }) => windows.devices),
    }),
    "ttft.svg": lineChart({
      title: "Time to first token, of requests that were done",
      x: { label: "milliseconds", isLog: true },
      y: { label: "share that had it by then", least: 0, most: 1 },
      lines: reports.map(({ name, ttftPoints }) => ({
        name,
        points: ttftPoints.map(({ value, share }) => ({ x: value, y: share })),
      })),
    }),
  };
}
