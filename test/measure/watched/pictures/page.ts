// The dashboard as one page that needs nothing else: each panel with its queries, in the dashboard's own grid.
import { dashboard, type Panel } from "../../../observe/queries.ts";
import type { Evaluated, Series, Span } from "../evaluate.ts";
import { barGauge } from "./bar-gauge.ts";
import { clock, type Drawn, type Size } from "./drawing.ts";
import { escaped } from "./looks.ts";
import { stateTimeline } from "./state-timeline.ts";
import { tablePanel } from "./table-panel.ts";
import { timeSeries } from "./time-series.ts";

/** Columns of a Grafana dashboard. */
const COLUMNS = 24;
const COLUMN = 66;
/** Higher than Grafana's 30: the queries stand below. */
const ROW = 38;
const GAP = 8;
const MARGIN = 12;
const HEAD = 44;
const QUERY_LINE = 13;
/** About as wide as a letter of a query. */
const LETTER = 6.1;

const STYLE = `
body { margin: 0; background: #f4f5f5; color: #24292e; font: 13px sans-serif; }
header { height: ${HEAD}px; padding: 0 ${MARGIN}px; line-height: ${HEAD}px; box-sizing: border-box; }
main { display: grid; gap: ${GAP}px; padding: 0 ${MARGIN}px; }
h1 { display: inline; font-size: 18px; }
h2 { margin: 0; font-size: 16px; align-self: end; }
section { background: #fff; border: 1px solid #ddd; box-sizing: border-box; overflow: hidden; display: flex; flex-direction: column; }
/* Addressed by its name, a panel has the page for itself. */
section:target { position: fixed; left: 0; top: 0; z-index: 1; }
h3 { margin: 0; padding: 6px 10px; font-size: 13px; height: 16px; }
.drawn { flex: 1; min-height: 0; overflow: hidden; }
.drawn > svg { display: block; }
code { display: block; padding: 0 10px; font: 10px/${QUERY_LINE}px monospace; color: #666; word-break: break-all; }
.legend { padding: 2px 10px; font-size: 11px; line-height: 17px; }
.legend span { display: inline-block; margin-right: 10px; }
.legend i { display: inline-block; width: 14px; height: 9px; opacity: 0.8; }
table { width: 100%; border-spacing: 0; }
td, th { padding: 4px 10px; text-align: left; font-weight: normal; white-space: nowrap; }
.cells th { font-weight: bold; border-bottom: 1px solid #ccc; }
.cells td { border-bottom: 1px solid #eee; }
.cells .number { text-align: right; font-variant-numeric: tabular-nums; }
.gauge td, .gauge th { width: 1%; padding: 6px 10px; }
.gauge .bar { width: auto; padding: 6px 0; }
.gauge i { display: block; height: 22px; }
.empty { padding: 40px; text-align: center; color: #888; }
`;

export interface Page {
  html: string;
  size: Size;
  /** Each panel by its name in the page. */
  panels: { id: string; title: string; size: Size }[];
}

export function pageOf(results: readonly Evaluated[], span: Span): Page {
  const { rows, panels } = dashboard();
  const drawn = panels.map((panel) => {
    const ofPanel = results.filter((result) => result.panel === panel.id);
    const answers = new Map(ofPanel.map(({ refId = "", series }) => [refId, series] as const));
    return {
      id: `panel-${panel.id}`,
      title: panel.title,
      size: sizeOf(panel),
      html: section({ panel, answers, span }),
    };
  });
  const bottom = Math.max(...panels.map(({ gridPos: { y, h } }) => y + h));
  const heads = rows.map(({ title, gridPos }) => `<h2 style="${placeOf(gridPos)}">${escaped(title)}</h2>`);
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Farmgate, as Prometheus has it</title><style>${STYLE}
main { grid-template-columns: repeat(${COLUMNS}, ${COLUMN}px); grid-template-rows: repeat(${bottom}, ${ROW}px); }
</style></head><body>
<header><h1>Farmgate</h1>, ${clock(span.from)} to ${clock(span.to)} UTC, each panel with what Prometheus answered to its queries</header>
<main>${[...heads, ...drawn.map((one) => one.html)].join("\n")}</main>
</body></html>
`;
  const width = 2 * MARGIN + COLUMNS * (COLUMN + GAP) - GAP;
  return { html, size: { width, height: HEAD + bottom * (ROW + GAP) - GAP + MARGIN }, panels: drawn };
}

function section({ panel, answers, span }: Drawn): string {
  const { width, height } = sizeOf(panel);
  const perLine = Math.floor((width - 22) / LETTER);
  const lines = panel.targets.reduce((sum, { expr }) => sum + Math.ceil((expr.length + 3) / perLine), 0);
  const inside = { width: width - 2, height: height - 34 - lines * QUERY_LINE - 6 };
  const queries = panel.targets.map(({ refId, expr }) => `<code>${refId}: ${escaped(expr)}</code>`);
  const place = `${placeOf(panel.gridPos)};width:${width}px;height:${height}px`;
  return `<section id="panel-${panel.id}" style="${place}"><h3 title="${escaped(panel.description ?? "")}">${escaped(panel.title)}</h3>
<div class="drawn">${pictureOf({ panel, answers, span }, inside)}</div>${queries.join("")}<p style="margin:0 0 4px"></p></section>`;
}

function pictureOf(drawn: Drawn, size: Size): string {
  const isEmpty = (series: readonly Series[]) => series.length === 0;
  if ([...drawn.answers.values()].every(isEmpty)) return '<div class="empty">No data</div>';
  if (drawn.panel.type === "timeseries") return timeSeries(drawn, size);
  if (drawn.panel.type === "state-timeline") return stateTimeline(drawn, size);
  if (drawn.panel.type === "bargauge") return barGauge(drawn);
  if (drawn.panel.type === "table") return tablePanel(drawn);
  throw new Error(`nothing draws a panel of type ${drawn.panel.type}`);
}

function sizeOf({ gridPos: { w, h } }: Panel): Size {
  return { width: w * (COLUMN + GAP) - GAP, height: h * (ROW + GAP) - GAP };
}

function placeOf({ x, y, w, h }: Panel["gridPos"]): string {
  return `grid-column:${x + 1}/span ${w};grid-row:${y + 1}/span ${h}`;
}
