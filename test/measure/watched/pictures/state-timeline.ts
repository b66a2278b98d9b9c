import { clock, type Drawn, type Size, valuesBySecond } from "./drawing.ts";
import { colourOf, escaped, nameOf } from "./looks.ts";

const LEGEND = 22;
const AXIS = 20;

/** A row for each series, coloured by its value at each time. */
export function stateTimeline({ panel, answers, span }: Drawn, { width, height }: Size): string {
  const { defaults } = panel.fieldConfig;
  const isTold = panel.options?.showValue !== "never";
  const rows = panel.targets.flatMap(({ refId, legendFormat }) =>
    (answers.get(refId) ?? []).map((series) => ({
      name: nameOf(series, legendFormat),
      stretches: stretchesOf(series),
    })),
  );
  const left = Math.max(40, ...rows.map(({ name }) => name.length * 6.6 + 14));
  const rowHeight = Math.min(44, (height - LEGEND - AXIS) / Math.max(1, rows.length));
  const place = (at: number) => left + ((at - span.from) / (span.to - span.from)) * (width - 40 - left);
  const bars = rows.flatMap(({ name, stretches }, i) => [
    `<text x="${left - 8}" y="${(i + 0.5) * rowHeight + 4}" text-anchor="end">${escaped(name)}</text>`,
    ...stretches.map(({ value, from, to }) => {
      const [start, end] = [place(from), place(to)];
      const where = `x="${start}" y="${i * rowHeight + 2}" width="${end - start}" height="${rowHeight * 0.8}"`;
      const told = isTold ? `<text x="${start + 6}" y="${(i + 0.5) * rowHeight + 2}">${value}</text>` : "";
      return `<rect ${where} fill="${colourOf(value, defaults)}" fill-opacity="0.8"/>${told}`;
    }),
  ]);
  const quarters = [0, 0.25, 0.5, 0.75, 1].map((share) => span.from + share * (span.to - span.from));
  const times = quarters.map(
    (at) => `<text x="${place(at)}" y="${rows.length * rowHeight + 14}" text-anchor="middle">${clock(at)}</text>`,
  );
  const legend = (defaults.mappings ?? []).flatMap(({ options }) =>
    Object.entries(options).map(
      ([value, { text }]) =>
        `<span><i style="background:${colourOf(Number(value), defaults)}"></i> ${escaped(text)}</span>`,
    ),
  );
  const head = `<svg width="${width}" height="${height - LEGEND}" font-family="sans-serif" font-size="12">`;
  return `${head}${[...bars, ...times].join("\n")}</svg><div class="legend">${legend.join(" ")}</div>`;

  function stretchesOf(series: Parameters<typeof valuesBySecond>[0]): { value: number; from: number; to: number }[] {
    const stretches: { value: number; from: number; to: number }[] = [];
    for (const { x, y } of valuesBySecond(series, span)) {
      const last = stretches.at(-1);
      const to = Math.min(x + 1, span.to);
      if (y === null) continue;
      if (last !== undefined && last.value === y && last.to === x) last.to = to;
      else stretches.push({ value: y, from: x, to });
    }
    return stretches;
  }
}
