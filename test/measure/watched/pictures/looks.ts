// How a panel says that a value looks: its colour and its words.
import type { FieldDefaults } from "../../../observe/queries.ts";
import type { Series } from "../evaluate.ts";

/** Grafana's, on white. */
const COLOURS: Record<string, string> = {
  green: "#56a64b",
  yellow: "#f2cc0c",
  orange: "#ff780a",
  red: "#e02f44",
  blue: "#3274d9",
  purple: "#a352cc",
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
  const name = mapped?.color ?? fixed ?? step?.color ?? "text";
  return COLOURS[name] ?? name;
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
