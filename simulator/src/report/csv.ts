import type { Report } from "./types.ts";

type Cell = string | number | null | undefined;

/** One line for each policy and application. */
export function applicationsCsv(reports: readonly Report[]): string {
  const head = ["policy", "application", "requests", "on_time", "attainment", "done", "refused", "timed_out", "failed"];
  const times = ["ttft", "tpot", "wait"].flatMap((name) => ["p50", "p90", "p99"].map((part) => `${name}_${part}_ms`));
  const rows = reports.flatMap(({ name: policy, applications }) =>
    applications.map(({ name, requests, onTime, attainment, outcomes, ttftMs, tpotMs, waitMs }) => [
      policy,
      name,
      requests,
      onTime,
      attainment,
      outcomes.done,
      outcomes.refused,
      outcomes["timed-out"],
      outcomes.failed,
      ...[ttftMs, tpotMs, waitMs].flatMap((part) => [part?.p50, part?.p90, part?.p99]),
    ]),
  );
  return csv([[...head, ...times], ...rows]);
}

/** One line for each policy and window. */
export function windowsCsv(reports: readonly Report[]): string {
  const rows = reports.flatMap(({ name, windows }) =>
    windows.arrived.map((arrived, i) => [
      name,
      (i * windows.windowMs) / 1_000,
      arrived,
      windows.attainment[i],
      windows.goodput[i],
      windows.devices[i],
    ]),
  );
  return csv([["policy", "t_s", "arrived_per_s", "attainment", "goodput_per_s", "devices"], ...rows]);
}

function csv(rows: readonly (readonly Cell[])[]): string {
  return rows.map((row) => `${row.map(cell).join(",")}\n`).join("");
}

function cell(value: Cell): string {
  if (value === null || value === undefined) return "";
  // Six digits are more than a simulation knows.
  if (typeof value === "number") return String(Number(value.toPrecision(6)));
  return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}
