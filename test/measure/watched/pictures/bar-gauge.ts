import type { Drawn } from "./drawing.ts";
import { colourOf, escaped, nameOf } from "./looks.ts";
import { shownIn } from "./units.ts";

/** A bar for each series, as long as its share of the greatest. */
export function barGauge({ panel, answers }: Drawn): string {
  const { defaults } = panel.fieldConfig;
  const bars = panel.targets.flatMap(({ refId, legendFormat }) =>
    (answers.get(refId) ?? []).map((series) => ({
      name: nameOf(series, legendFormat),
      value: Number(series.value?.[1] ?? Number.NaN),
    })),
  );
  const most = defaults.max ?? Math.max(...bars.map(({ value }) => value), 0);
  const rows = bars.map(({ name, value }) => {
    const colour = colourOf(value, defaults);
    const share = most > 0 ? (100 * value) / most : 0;
    const bar = `<td class="bar"><i style="width:${share}%;background:${colour}"></i></td>`;
    const text = shownIn(defaults.unit ?? "none", value, defaults.decimals);
    return `<tr><th>${escaped(name)}</th>${bar}<td style="color:${colour}">${escaped(text)}</td></tr>`;
  });
  return `<table class="gauge">${rows.join("")}</table>`;
}
