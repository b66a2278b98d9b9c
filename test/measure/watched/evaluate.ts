// Each query of the dashboard and each rule, as Prometheus answers it.
import { dashboard, metricsIn, rules } from "../../observe/queries.ts";

export interface Evaluated {
  /** The panel with the query's letter, or the rule. */
  from: string;
  expr: string;
  /** Series that it had at some time. */
  series: number;
  /** One of them with its last value; null: there is none. */
  sample: string | null;
  /** null: it may be empty. */
  fault: string | null;
}

interface Series {
  metric: Record<string, string>;
  values?: [number, string][];
  value?: [number, string];
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

/** Each query over the last `seconds`, then each rule. */
export async function evaluate(prometheus: string, seconds: number): Promise<Evaluated[]> {
  const results: Evaluated[] = [];
  for (const { title, targets } of dashboard().panels) {
    for (const { refId, expr, instant } of targets) {
      const mayBeEmpty = metricsIn(expr).every((name) => OF_SEVERAL.test(name));
      const from = targets.length === 1 ? title : `${title}, ${refId}`;
      results.push(await evaluated(prometheus, { from, expr, instant, mayBeEmpty }, seconds));
    }
  }
  const { groups } = await api<Rules>(prometheus, "rules", {});
  const health = new Map(groups.flatMap((group) => group.rules.map((rule) => [rule.name, rule] as const)));
  for (const { name, kind, expr } of rules()) {
    const query = { from: `${kind} ${name}`, expr: kind === "record" ? name : expr, instant: true };
    const result = await evaluated(prometheus, { ...query, mayBeEmpty: kind === "alert" }, seconds);
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
  seconds: number,
): Promise<Evaluated> {
  const { from, expr, instant, mayBeEmpty } = query;
  const now = Date.now() / 1_000;
  const asked = { query: filledIn(expr, seconds) };
  const range = { start: String(now - seconds), end: String(now), step: "1" };
  try {
    const { result } = await (instant
      ? api<{ result: Series[] }>(prometheus, "query", asked)
      : api<{ result: Series[] }>(prometheus, "query_range", { ...asked, ...range }));
    const told = result.filter(hasNumber);
    const sample = told[0] === undefined ? null : sampleOf(told[0]);
    return { from, expr, series: told.length, sample, fault: told.length > 0 || mayBeEmpty ? null : "no data" };
  } catch (error) {
    return { from, expr, series: 0, sample: null, fault: (error as Error).message };
  }
}

function hasNumber({ value, values = [] }: Series): boolean {
  return [...values, ...(value === undefined ? [] : [value])].some(([, text]) => text !== "NaN");
}

function sampleOf({ metric, value, values = [] }: Series): string {
  const { __name__: _, ...rest } = metric;
  const labels = Object.entries(rest).map(([name, text]) => `${name}=${text}`);
  const [, text = ""] = value ?? values.findLast(([, one]) => one !== "NaN") ?? [];
  return `${labels.join(" ") || "(all)"}: ${Number(Number(text).toPrecision(4))}`;
}

async function api<T>(prometheus: string, path: string, query: Record<string, string>): Promise<T> {
  const answer = await fetch(`${prometheus}/api/v1/${path}?${new URLSearchParams(query).toString()}`);
  const { status, data, error } = (await answer.json()) as { status: string; data: T; error?: string };
  if (status !== "success") throw new Error(error ?? `Prometheus answered ${answer.status}`);
  return data;
}
