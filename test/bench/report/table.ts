// The results as a Markdown table that also reads well in a terminal.
import { isHeld } from "./row.ts";
import type { Guide, Row } from "./row.ts";

const ABSENT = "-";

export function table(rows: readonly Row[], names: readonly string[]): string {
  const heads = ["figure", ...names, "gateway : nginx", "guide", "held"];
  const lines = rows.map((row) => [
    row.figure,
    ...names.map((name) => shown(row.values[name])),
    row.ratio === undefined ? ABSENT : `${row.ratio.toFixed(2)}x`,
    row.guide === undefined ? ABSENT : guideText(row.guide),
    { true: "yes", false: "NO", undefined: ABSENT }[String(isHeld(row)) as "true" | "false" | "undefined"],
  ]);
  return aligned([heads, ...lines]);
}

/** Three significant digits, and no more decimals than two. */
export function shown(value: number | undefined): string {
  if (value === undefined || Number.isNaN(value)) return ABSENT;
  const size = Math.abs(value);
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
}

function guideText(guide: Guide): string {
  if (guide.of === "value") return `< ${guide.limit}${guide.unit === undefined ? "" : ` ${guide.unit}`}`;
  return `<= ${guide.limit}x${guide.aim === undefined ? "" : `, aim ${guide.aim}x`}`;
}

/** The first line is the head. */
export function aligned(cells: string[][]): string {
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)));
  const joined = (line: string[]) =>
    `| ${line.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join(" | ")} |`;
  const rule = `| ${widths.map((width, column) => (column === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`)).join(" | ")} |`;
  const [head = [], ...lines] = cells;
  return [joined(head), rule, ...lines.map(joined)].join("\n");
}
