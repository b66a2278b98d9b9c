// How a panel says that a value looks: its colour and its words.
import type { FieldDefaults, Panel } from "../../../observe/queries.ts";
import type { Series } from "../evaluate.ts";

/** Grafana's, on white. */
const COLOURS: Record<string, string> = {
  green: "#56a64b",
  yellow: "#f2cc0c",
  orange: "#ff780a",
  red: "#e02f44",
  blue: "#3274d9",
  purple: "#a352cc",
  "dark-red": "#ad0317",
  text: "#24292e",
};
/** What Grafana takes where a panel has none. */
const STEPS = [
  { color: "green", value: null },
  { color: "red", value: 80 },
];

export function colourOf(value: number, { color, thresholds, mappings = [] }: FieldDefaults): string {
  const mapped = mappings.map(({ options }) => options[String(value)]).find((one) => one !== undefined);
  const fixed = color?.mode === "fixed" ? color.fixedColor : undefined;
  const step = (thresholds?.steps ?? STEPS).findLast((one) => one.value === null || value >= one.value);
  return colourNamed(mapped?.color ?? fixed ?? step?.color ?? "text");
}

export function colourNamed(name: string): string {
  return COLOURS[name] ?? name;
}

/** The panel's defaults with what it says of the field with this name. */
export function fieldOf({ fieldConfig }: Panel, name: string): FieldDefaults & { isColoured?: boolean } {
  const field: FieldDefaults & { isColoured?: boolean } = { ...fieldConfig.defaults };
  for (const { matcher, properties } of fieldConfig.overrides) {
    const isPattern = matcher.id === "byRegexp";
    if (!(isPattern ? new RegExp(matcher.options.slice(1, -1)).test(name) : matcher.options === name)) continue;
    for (const { id, value } of properties) {
      if (id === "custom.cellOptions") field.isColoured = (value as { type: string }).type.startsWith("color");
      else Object.assign(field, { [id]: value });
    }
  }
  return field;
}

/** By the target's `legendFormat`; without one all labels. */
export function nameOf({ metric }: Series, legendFormat: string | undefined): string {
  if (legendFormat !== undefined)
    return legendFormat.replaceAll(/\{\{(\w+)\}\}/g, (_, label: string) => metric[label] ?? "");
  return Object.entries(metric)
    .map(([label, text]) => `${label}=${text}`)
    .join(" ");
}

/** For HTML and its attributes. */
export function escaped(content: string): string {
  return content.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
