// Each query of the dashboard and each rule, as Prometheus answers it.
import { dashboard, metricsIn, rules } from "../../observe/queries.ts";

/** As Prometheus writes it: `value` for a moment, `values` for a time; each is a moment in seconds and a number as text. */
export interface Series {
  metric: Record<string, string>;
  values?: [number, string][];
  value?: [number, string];
}

export interface Evaluated {
  /** The panel with the query's letter, or the rule. */
  from: string;
  /** Of a panel's query. */
  panel?: number;
  refId?: string;
  expr: string;
  /** Those that had a number at some time. */
  series: readonly Series[];
  /** null: it has data, or may be empty. */
  fault: string | null;
}

/** Seconds since 1970. */
export interface Span {
  from: number;
  to: number;
}

interface Rules {
  groups: { rules: { name: string; health: string; lastError?: string; type: string }[] }[];
}

/** What a Grafana puts in the place of its variables, for so many seconds of scrapes each second. */
function filledIn(expr: string, seconds: number): string {
  return expr
    .replaceAll("$__rate_interval", "10s")
    .replaceAll("$__range:15s", `${seconds}s:1s`)
    .replaceAll("$__range", `${seconds}s`)
    .replaceAll(/\$(gateway|worker|model)\b/g, ".*");
}

/** Told only where several gateways act as one. */
const OF_SEVERAL = /^farmgate_(gateways|together_up|claims_total)$/;

/** Each query over the span, then each rule at its end. `isAlone`: there is one gateway. */
export async function evaluate(prometheus: string, span: Span, isAlone: boolean): Promise<Evaluated[]> {
  const results: Evaluated[] = [];
  for (const { id, title, targets } of dashboard().panels) {
    for (const { refId, expr, instant } of targets) {
      const mayBeEmpty = isAlone && metricsIn(expr).every((name) => OF_SEVERAL.test(name));
      const from = targets.length === 1 ? title : `${title}, ${refId}`;
      const result = await evaluated(prometheus, { from, expr, instant, mayBeEmpty }, span);
      results.push({ ...result, panel: id, refId });
    }
  }
  const { groups } = await api<Rules>(prometheus, "rules", {});
  const health = new Map(groups.flatMap((group) => group.rules.map((rule) => [rule.name, rule] as const)));
  for (const { name, kind, expr } of rules()) {
    const query = { from: `${kind} ${name}`, expr: kind === "record" ? name : expr, instant: true };
    const result = await evaluated(prometheus, { ...query, mayBeEmpty: kind === "alert" }, span);
    const rule = health.get(name);
    const fault =
      rule?.health === "ok" ? null : `the rule is ${rule?.health ?? "not loaded"}: ${rule?.lastError ?? ""}`;
    results.push({ ...result, fault: fault ?? result.fault });
  }
  return results;
}

async function evaluated(
  prometheus: string,
  query: { from: string; expr: string; instant: boolean; mayBeEmpty: boolean },
  span: Span,
): Promise<Evaluated> {
  const { from, expr, instant, mayBeEmpty } = query;
  const asked = { query: filledIn(expr, Math.round(span.to - span.from)) };
  const range = { start: String(span.from), end: String(span.to), step: "1" };
  try {
    const { result } = await (instant
      ? api<{ result: Series[] }>(prometheus, "query", { ...asked, time: range.end })
      : api<{ result: Series[] }>(prometheus, "query_range", { ...asked, ...range }));
    const series = result.filter(hasNumber);
    return { from, expr, series, fault: series.length > 0 || mayBeEmpty ? null : "no data" };
  } catch (error) {
    return { from, expr, series: [], fault: (error as Error).message };
  }
}

function hasNumber({ value, values = [] }: Series): boolean {
  return [...values, ...(value === undefined ? [] : [value])].some(([, text]) => text !== "NaN");
}

/** One of the series with its last value; null: there is none. */
export function sampleOf([first]: readonly Series[]): string | null {
  if (first === undefined) return null;
  const { metric, value, values = [] } = first;
  const { __name__: _, ...rest } = metric;
  const labels = Object.entries(rest).map(([name, text]) => `${name}=${text}`);
  const [, text = ""] = value ?? values.findLast(([, one]) => one !== "NaN") ?? [];
  return `${labels.join(" ") || "(all)"}: ${Number(Number(text).toPrecision(4))}`;
}

export async function api<T>(prometheus: string, path: string, query: Record<string, string>): Promise<T> {
  const answer = await fetch(`${prometheus}/api/v1/${path}?${new URLSearchParams(query).toString()}`);
  const { status, data, error } = (await answer.json()) as { status: string; data: T; error?: string };
  if (status !== "success") throw new Error(error ?? `Prometheus answered ${answer.status}`);
  return data;
}
