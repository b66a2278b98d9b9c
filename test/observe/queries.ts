// What the dashboard and the rules ask Prometheus, as they stand in deploy/.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";

export const PROMETHEUS = fileURLToPath(new URL("../../deploy/prometheus/", import.meta.url));
const DASHBOARD = new URL("../../deploy/grafana/dashboards/farmgate.json", import.meta.url);

interface Target {
  refId: string;
  expr: string;
  legendFormat?: string;
  instant: boolean;
}

export interface FieldDefaults {
  unit?: string;
  min?: number;
  max?: number;
  decimals?: number;
  noValue?: string;
  color?: { mode: string; fixedColor?: string };
  /** The step without a value is the lowest. */
  thresholds?: { steps: { color: string; value: number | null }[] };
  mappings?: { options: Record<string, { text: string; color: string }> }[];
  custom?: {
    stacking?: { mode: string };
    /** Where lines at the thresholds are drawn. */
    thresholdsStyle?: { mode: string };
    axisSoftMax?: number;
  };
}

export interface Panel {
  id: number;
  type: string;
  title: string;
  description?: string;
  gridPos: { h: number; w: number; x: number; y: number };
  fieldConfig: {
    defaults: FieldDefaults;
    overrides: { matcher: { id: string; options: string }; properties: { id: string; value: unknown }[] }[];
  };
  options?: { sortBy?: { displayName: string; desc: boolean }[]; showValue?: string };
  transformations?: {
    id: string;
    options: {
      excludeByName?: Record<string, boolean>;
      indexByName?: Record<string, number>;
      renameByName?: Record<string, string>;
    };
  }[];
  targets: Target[];
}

interface Variable {
  name: string;
  type: string;
  query: string | { query: string };
}

export interface Rule {
  /** What it is called. */
  name: string;
  kind: "record" | "alert";
  expr: string;
  labels: { severity?: string };
  annotations: { summary?: string; description?: string; runbook?: string };
}

interface RuleFile {
  groups: { rules: (Partial<Rule> & { record?: string; alert?: string; expr: string })[] }[];
}

/** A headline over panels. */
export type Row = Pick<Panel, "title" | "gridPos">;

export function dashboard(): { rows: Row[]; panels: Panel[]; variables: Variable[] } {
  const { panels, templating } = JSON.parse(readFileSync(DASHBOARD, "utf8")) as {
    panels: Panel[];
    templating: { list: Variable[] };
  };
  const isRow = ({ type }: Panel) => type === "row";
  return {
    rows: panels.filter(isRow),
    panels: panels.filter((panel) => !isRow(panel)),
    variables: templating.list,
  };
}

export function rules(): Rule[] {
  const { groups } = parse(readFileSync(`${PROMETHEUS}rules.yml`, "utf8")) as RuleFile;
  return groups.flatMap((group) =>
    group.rules.map(({ record, alert, expr, labels = {}, annotations = {} }) => ({
      name: record ?? alert ?? "",
      kind: record === undefined ? ("alert" as const) : ("record" as const),
      expr,
      labels,
      annotations,
    })),
  );
}

/** The metrics that an expression reads, recorded ones among them. */
export function metricsIn(expr: string): string[] {
  return [...new Set(expr.match(/(?:\b\w+:)?\b(?:farmgate|process|nodejs)_\w+(?::\w+)?|\bup\b(?=\{)/g) ?? [])];
}

/** Names of labels that an expression matches or groups by; what it makes up itself is left out. */
export function labelsIn(expr: string): string[] {
  const made = new Set(Array.from(expr.matchAll(/label_replace\([^]*?"(\w+)", "\$1"/g), ([, name]) => name));
  for (const [, name] of expr.matchAll(/"(\w+)", "\$1", "\w+"/g)) made.add(name);
  const matched = Array.from(expr.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"/g), ([, name]) => name ?? "");
  const grouped = Array.from(expr.matchAll(/\b(?:by|on|without|group_left)\s*\(([^)]*)\)/g), ([, list]) => list ?? "")
    .flatMap((list) => list.split(","))
    .map((name) => name.trim());
  return [...new Set([...matched, ...grouped])].filter((name) => name !== "" && name !== "__name__" && !made.has(name));
}
