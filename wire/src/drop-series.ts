import type { Registry } from "prom-client";

/** By a label's name: whether what it names is still there. */
type KnownLabels = Readonly<Record<string, (value: string) => boolean>>;

/** Takes the series out of a registry of which some label names what is not there any more. Gauges are left alone. */
export async function dropSeries(registry: Registry, known: KnownLabels): Promise<void> {
  for (const { name, type } of registry.getMetricsAsArray()) {
    const metric = registry.getSingleMetric(name);
    // A gauge is set anew at each reading.
    if (metric === undefined || String(type) === "gauge") continue;
    const stale = new Map<string, Record<string, string>>();
    for (const { labels } of (await metric.get()).values) {
      const own = Object.entries(labels as Record<string, unknown>)
        // Of a histogram, each bucket comes with its bound.
        .filter(([label]) => label !== "le")
        .map(([label, value]): [string, string] => [label, String(value)]);
      if (own.some(([label, value]) => known[label]?.(value) === false)) {
        stale.set(JSON.stringify(own), Object.fromEntries(own));
      }
    }
    for (const labels of stale.values()) metric.remove(labels);
  }
}
