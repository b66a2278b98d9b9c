import type { Trace } from "./types.ts";

interface Lengths {
  mean: number;
  p50: number;
  p90: number;
  p99: number;
  max: number;
}

export interface TraceSummary {
  requests: number;
  applications: number;
  /** From the first request to the last one. */
  spanMs: number;
  /** Requests a second. */
  rate: number;
  /** Requests in the fullest second, and as a multiple of `rate`. */
  busiestSecond: number;
  busiestOverMean: number;
  /** Deviation of the gaps between requests over their mean; 1: Poisson. */
  gapCv: number;
  input: Lengths;
  output: Lengths;
  /** Share of the requests that go to the most asked application, and to the most asked 12 % of them. */
  topShare: number;
  headShare: number;
}

/** The shape of a trace, to be held against others. null: it has no requests. */
export function summary(trace: Trace): TraceSummary | null {
  const { at, applications } = trace;
  const requests = at.length;
  if (requests === 0) return null;
  const first = at[0] ?? 0;
  const spanMs = (at[requests - 1] ?? 0) - first;
  const rate = spanMs > 0 ? requests / (spanMs / 1_000) : 0;
  const busiestSecond = fullestSecond(at);
  const counts = perApplication(trace).toSorted((a, b) => b - a);
  const head = Math.max(1, Math.round(HEAD * applications.length));
  const sum = (from: Uint32Array) => from.reduce((total, count) => total + count, 0);
  return {
    requests,
    applications: applications.length,
    spanMs,
    rate,
    busiestSecond,
    busiestOverMean: rate > 0 ? busiestSecond / rate : 0,
    gapCv: gapCv(at),
    input: lengths(trace.input),
    output: lengths(trace.output),
    topShare: (counts[0] ?? 0) / requests,
    headShare: sum(counts.subarray(0, head)) / requests,
  };
}

/** Of the applications: those that a few large ones are compared by. */
const HEAD = 0.12;

/** Requests of each application. */
export function perApplication({ applications, app }: Trace): Uint32Array {
  const counts = new Uint32Array(applications.length);
  for (const place of app) counts[place] = (counts[place] ?? 0) + 1;
  return counts;
}

/** Of whole seconds from 0 on. */
function fullestSecond(at: Float64Array): number {
  let most = 0;
  let second = -1;
  let count = 0;
  for (const time of at) {
    const its = Math.floor(time / 1_000);
    count = its === second ? count + 1 : 1;
    second = its;
    if (count > most) most = count;
  }
  return most;
}

function gapCv(at: Float64Array): number {
  const gaps = at.length - 1;
  if (gaps < 1) return 0;
  const mean = ((at[gaps] ?? 0) - (at[0] ?? 0)) / gaps;
  let squares = 0;
  for (let i = 1; i <= gaps; i += 1) squares += ((at[i] ?? 0) - (at[i - 1] ?? 0) - mean) ** 2;
  return mean > 0 ? Math.sqrt(squares / gaps) / mean : 0;
}

function lengths(column: Uint32Array): Lengths {
  const sorted = column.toSorted();
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
  const mean = sorted.reduce((sum, tokens) => sum + tokens, 0) / sorted.length;
  return { mean, p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
}
