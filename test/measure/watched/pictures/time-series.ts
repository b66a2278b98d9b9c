import { type Line, lineChart, lineStroke } from "@farmgate/simulator/line-chart";
import type { FieldDefaults } from "../../../observe/queries.ts";
import { clock, type Drawn, type Size, valuesBySecond } from "./drawing.ts";
import { colourNamed, escaped, fieldOf, nameOf } from "./looks.ts";
import { shownIn } from "./units.ts";

const LEGEND_LINE = 17;
/** About as wide as a letter of the legend. */
const LETTER = 6.6;
const MARK = 50;
/** So much of the chart's height stays free above its lines. */
const FREE = 0.05;

/** Lines, filled and stacked as the panel says, over a legend. */
export function timeSeries({ panel, answers, span }: Drawn, { width, height }: Size): string {
  const { defaults } = panel.fieldConfig;
  const { unit = "none", min, decimals } = defaults;
  const named = panel.targets.flatMap(({ refId, legendFormat }) =>
    (answers.get(refId) ?? []).map((series): Line => {
      const name = nameOf(series, legendFormat);
      const { color } = fieldOf(panel, name);
      const colour = color?.mode === "fixed" ? { colour: colourNamed(color.fixedColor ?? "text") } : {};
      return { name, ...colour, points: valuesBySecond(series, span) };
    }),
  );
  const lines = defaults.custom?.stacking?.mode === "normal" ? stacked(named) : named;
  const most = highest(lines, defaults);
  // Bytes are marked at round numbers of their own unit.
  const scale = unit === "bytes" ? 1_024 ** Math.floor(Math.log(Math.max(1, most)) / Math.log(1_024)) : 1;
  const scaled = [...lines, ...limits(defaults, span)].map((line) => ({
    ...line,
    points: line.points.map((point) => ({ ...point, y: point.y === null ? null : point.y / scale })),
  }));
  const legendWidth = named.reduce((sum, { name }) => sum + MARK + name.length * LETTER, 0);
  const legendHeight = Math.ceil(legendWidth / (width - 60)) * LEGEND_LINE + 4;
  const chart = lineChart({
    title: panel.title,
    x: { label: "time", least: span.from, most: span.to, shown: clock },
    y: {
      label: unit,
      least: min === undefined ? null : min / scale,
      most: most / scale,
      isWhole: decimals === 0,
      shown: (value) => shownIn(unit, value * scale, decimals),
    },
    lines: scaled,
    bare: { width, height: height - legendHeight },
  });
  const legend = named.map((line, i) => {
    const mark = `<svg width="26" height="9"><path d="M0 5h26" fill="none" ${lineStroke(line, i)}/></svg>`;
    return `<span>${mark} ${escaped(line.name)}</span>`;
  });
  return `${chart}<div class="legend">${legend.join(" ")}</div>`;
}

/** What the axis goes up to. */
function highest(lines: readonly Line[], { max, custom }: FieldDefaults): number {
  if (max !== undefined) return max;
  const values = lines.flatMap(({ points }) => points.flatMap(({ y }) => y ?? []));
  const most = Math.max(0, ...values) * (1 + FREE);
  return Math.max(most, custom?.axisSoftMax ?? 0) || 1;
}

/** The thresholds across the whole span, where they are to be seen. */
function limits({ thresholds, custom }: FieldDefaults, { from, to }: Drawn["span"]): Line[] {
  if (custom?.thresholdsStyle === undefined) return [];
  return (thresholds?.steps ?? []).flatMap(({ color, value }) => {
    if (value === null) return [];
    const points = [from, to].map((x) => ({ x, y: value }));
    return [{ name: "limit", colour: colourNamed(color), points }];
  });
}

/** Each over the ones before it; one without a value adds nothing. */
function stacked(lines: readonly Line[]): Line[] {
  const heights: number[] = [];
  return lines.map((line) => ({
    ...line,
    points: line.points.map(({ x, y }, i) => {
      const from = heights[i] ?? 0;
      heights[i] = from + (y ?? 0);
      return y === null ? { x, y } : { x, y: from + y, from };
    }),
  }));
}
