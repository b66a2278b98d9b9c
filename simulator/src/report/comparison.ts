import type { Report } from "./types.ts";

export interface Rows {
  headings: string[];
  rows: string[][];
}

/** Policies side by side: one row each, for a table on a terminal or in a text. */
export function comparison(reports: readonly Report[]): Rows {
  const parts = [...new Set(reports.flatMap(({ parts }) => parts.map(({ name }) => name)))];
  const columns: [string, (report: Report) => string][] = [
    ["policy", ({ name }) => name],
    ["requests", ({ requests }) => String(requests)],
    ["on time", ({ attainment }) => percent(attainment)],
    ...parts.map((part): (typeof columns)[number] => [
      part,
      (report) => percent(report.parts.find(({ name }) => name === part)?.attainment ?? null),
    ]),
    ["worst app", ({ worst }) => (worst === null ? "-" : `${percent(worst.attainment)} ${worst.application}`)],
    ["TTFT p50/p90/p99 ms", ({ ttftMs }) => three(ttftMs)],
    ["per token ms", ({ tpotMs }) => three(tpotMs)],
    ["refused", ({ outcomes }) => String(outcomes.refused)],
    ["timed out", ({ outcomes }) => String(outcomes["timed-out"])],
    ["failed", ({ outcomes }) => String(outcomes.failed)],
    ["device-h", ({ devices }) => digits(devices.hours)],
    ["devices", ({ devices }) => `${Math.round(devices.least)}-${Math.round(devices.most)}`],
    ["loads", ({ loads }) => String(Object.values(loads).reduce((sum, { count }) => sum + count, 0))],
    ["moves", ({ moves }) => String(moves)],
    ["evicted", ({ evictions }) => String(evictions)],
    ["GB moved", ({ bytesMoved }) => digits(bytesMoved / 1e9)],
  ];
  return {
    headings: columns.map(([heading]) => heading),
    rows: reports.map((report) => columns.map(([, cell]) => cell(report))),
  };
}

/** The rows as a table that reads well both on a terminal and in a text. */
export function markdownTable({ headings, rows }: Rows): string {
  const widths = headings.map((_, i) => Math.max(3, ...[headings, ...rows].map((row) => (row[i] ?? "").length)));
  const line = (row: readonly string[]) =>
    `| ${widths.map((width, i) => (row[i] ?? "").padEnd(width)).join(" | ")} |\n`;
  return [line(headings), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("");
}

function percent(share: number | null): string {
  return share === null ? "-" : `${(100 * share).toFixed(1)} %`;
}

function three(part: Report["ttftMs"]): string {
  return part === null ? "-" : [part.p50, part.p90, part.p99].map(digits).join("/");
}

function digits(value: number): string {
  return String(value >= 100 ? Math.round(value) : Number(value.toPrecision(3)));
}
