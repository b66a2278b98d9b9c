import { type Line, lineChart, lineStroke } from "@farmgate/simulator/virtual";
import { clock, type Drawn, type Size, valuesBySecond } from "./drawing.ts";
import { escaped, nameOf } from "./looks.ts";
import { shownIn } from "./units.ts";

const LEGEND_LINE = 17;
/** About as wide as a letter of the legend. */
const LETTER = 6.2;
const MARK = 44;

/** Lines, filled and stacked as the panel says, over a legend. */
export function timeSeries({ panel, answers, span }: Drawn, { width, height }: Size): string {
  const { unit = "none", min, max, decimals, custom } = panel.fieldConfig.defaults;
  const named = panel.targets.flatMap(({ refId, legendFormat }) =>
    (answers.get(refId) ?? []).map((series) => ({
      name: nameOf(series, legendFormat),
      points: valuesBySecond(series, span),
    })),
  );
  const isStacked = custom?.stacking?.mode === "normal";
  const lines: readonly Line[] = isStacked ? stacked(named) : named;
  const legendWidth = named.reduce((sum, { name }) => sum + MARK + name.length * LETTER, 0);
  const legendHeight = Math.ceil(legendWidth / (width - 40)) * LEGEND_LINE + 4;
  const chart = lineChart({
    title: panel.title,
    x: { label: "time", least: span.from, most: span.to, shown: clock },
    y: { label: unit, least: min ?? null, most: max ?? null, shown: (value) => shownIn(unit, value, decimals) },
    lines,
    bare: { width, height: height - legendHeight },
  });
  const legend = named.map(({ name }, i) => {
    const mark = `<svg width="26" height="9"><path d="M0 5h26" fill="none" ${lineStroke(i)}/></svg>`;
    return `<span>${mark} ${escaped(name)}</span>`;
  });
  return `${chart}<div class="legend">${legend.join(" ")}</div>`;
}

/** Each over the ones before it; one without a value adds nothing. */
function stacked(lines: readonly Line[]): Line[] {
  const heights: number[] = [];
  return lines.map(({ name, points }) => ({
    name,
    points: points.map(({ x, y }, i) => {
      const from = heights[i] ?? 0;
      heights[i] = from + (y ?? 0);
      return y === null ? { x, y } : { x, y: from + y, from };
    }),
  }));
}
