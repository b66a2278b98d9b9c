import type { Panel } from "../../../observe/queries.ts";
import type { Series } from "../evaluate.ts";
import type { Drawn } from "./drawing.ts";
import { colourOf, escaped, fieldOf } from "./looks.ts";
import { shownIn } from "./units.ts";

type Cells = Map<string, string | number>;

/** The last values as rows: joined by their labels, named, ordered and sorted as the panel says. */
export function tablePanel({ panel, answers }: Drawn): string {
  const { columns, rows } = tableOf(panel, answers);
  const isText = (name: string) => rows.some((cells) => typeof cells.get(name) === "string");
  const head = columns.map((name) => `<th${isText(name) ? "" : ' class="number"'}>${escaped(name)}</th>`).join("");
  const lines = rows.map((cells) => `<tr>${columns.map((name) => cell(panel, name, cells.get(name))).join("")}</tr>`);
  return `<table class="cells"><tr>${head}</tr>${lines.join("")}</table>`;
}

export function tableOf(
  panel: Panel,
  answers: ReadonlyMap<string, readonly Series[]>,
): { columns: string[]; rows: Cells[] } {
  const {
    excludeByName = {},
    indexByName = {},
    renameByName = {},
  } = panel.transformations?.find(({ id }) => id === "organize")?.options ?? {};
  const isMerged = panel.targets.length > 1;
  const byLabels = new Map<string, Cells>();
  const found = new Set<string>();
  for (const { refId } of panel.targets) {
    for (const { metric, value } of answers.get(refId) ?? []) {
      const key = JSON.stringify(Object.entries(metric).sort(([a], [b]) => (a < b ? -1 : 1)));
      const cells: Cells = byLabels.get(key) ?? new Map(Object.entries(metric));
      cells.set(isMerged ? `Value #${refId}` : "Value", Number(value?.[1] ?? Number.NaN));
      byLabels.set(key, cells);
      for (const name of cells.keys()) found.add(name);
    }
  }
  const place = (name: string) => indexByName[name] ?? Infinity;
  const shown = [...found].filter((name) => !excludeByName[name]).sort((a, b) => place(a) - place(b));
  const named = (name: string) => renameByName[name] ?? name;
  const rows = Array.from(
    byLabels.values(),
    (cells) => new Map(Array.from(cells, ([name, one]) => [named(name), one])),
  );
  const by = panel.options?.sortBy?.[0];
  const sorted = by === undefined ? rows : rows.sort((a, b) => ordered(a, b, by.displayName) * (by.desc ? -1 : 1));
  return { columns: shown.map(named), rows: sorted };
}

function ordered(a: Cells, b: Cells, column: string): number {
  return (Number(a.get(column)) || 0) - (Number(b.get(column)) || 0);
}

function cell(panel: Panel, column: string, value: string | number | undefined): string {
  if (typeof value === "string") return `<td>${escaped(value)}</td>`;
  const field = fieldOf(panel, column);
  if (value === undefined || Number.isNaN(value)) return `<td class="number">${escaped(field.noValue ?? "")}</td>`;
  const colour = field.isColoured ? ` style="color:${colourOf(value, field)}"` : "";
  return `<td class="number"${colour}>${escaped(shownIn(field.unit ?? "none", value, field.decimals))}</td>`;
}
