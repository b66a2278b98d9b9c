// Numbers as Grafana writes them in the units that the dashboard uses.

const TIMES = [
  { unit: "s", per: 1 },
  { unit: "ms", per: 1e3 },
  { unit: "µs", per: 1e6 },
];
const LONG_TIMES = [
  { unit: "hours", per: 1 / 3_600 },
  { unit: "mins", per: 1 / 60 },
];
const COUNTS = ["", " K", " Mil", " Bil"];
const BYTES = [" B", " KiB", " MiB", " GiB", " TiB"];
const SUFFIX = "suffix:";

/** `decimals` absent: as many as three digits need. */
export function shownIn(unit: string, value: number, decimals?: number): string {
  if (unit === "s") return time(value, decimals);
  if (unit === "percentunit") return `${digits(value * 100, decimals)}%`;
  if (unit === "reqps") return `${digits(value, decimals)} req/s`;
  if (unit === "bytes") return scaled(value, 1_024, BYTES, decimals);
  if (unit === "short") return scaled(value, 1_000, COUNTS, decimals);
  if (unit.startsWith(SUFFIX)) return digits(value, decimals) + unit.slice(SUFFIX.length);
  return digits(value, decimals);
}

function time(value: number, decimals: number | undefined): string {
  const size = Math.abs(value);
  const long = LONG_TIMES.find(({ per }) => size * per >= 1);
  const { unit, per } = long ?? TIMES.find(({ per }) => size * per >= 1) ?? { unit: "s", per: 1 };
  return `${digits(value * per, decimals)} ${unit}`;
}

function scaled(value: number, base: number, names: readonly string[], decimals: number | undefined): string {
  let [rest, i] = [value, 0];
  for (; Math.abs(rest) >= base && i < names.length - 1; i += 1) rest /= base;
  return digits(rest, decimals) + (names[i] ?? "");
}

function digits(value: number, decimals: number | undefined): string {
  return decimals === undefined ? String(Number(value.toPrecision(3))) : value.toFixed(decimals);
}
