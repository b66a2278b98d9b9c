import type { Bin } from "./types.ts";

/** The bins in the order of their hosts, and in them by index. A bin is a place in this order. */
export interface Layout {
  readonly bins: readonly Bin[];
  readonly places: ReadonlyMap<string, number>;
  /** Per bin: which host, from 0. */
  readonly hosts: Int32Array;
  readonly hostCount: number;
  /** Per bin: memory, compute, bandwidth. */
  readonly capacity: Float64Array;
  /** The means over all bins: memory, compute, bandwidth. */
  readonly mean: Float64Array;
  /** First bins of the aligned groups of `span` neighbours of one host. */
  groups(span: number): Int32Array;
}

/** Of each list of bins once: it is asked for twice a second, and the list hardly ever changes. */
const known = new WeakMap<readonly Bin[], Layout>();

export function layoutOf(bins: readonly Bin[]): Layout {
  const before = known.get(bins);
  if (before !== undefined) return before;
  const layout = laidOut(bins);
  known.set(bins, layout);
  return layout;
}

function laidOut(given: readonly Bin[]): Layout {
  const hostIds = new Map<string, number>();
  for (const { host } of given) if (!hostIds.has(host)) hostIds.set(host, hostIds.size);
  const hostOf = (bin: Bin) => hostIds.get(bin.host) ?? 0;
  const bins = [...given].sort((a, b) => hostOf(a) - hostOf(b) || a.index - b.index);
  const places = new Map<string, number>();
  const hosts = new Int32Array(bins.length);
  const capacity = new Float64Array(3 * bins.length);
  const mean = new Float64Array(3);
  for (const [place, bin] of bins.entries()) {
    places.set(bin.id, place);
    hosts[place] = hostOf(bin);
    const { memory, compute, bandwidth } = bin.capacity;
    for (const [k, value] of [memory, compute, bandwidth].entries()) {
      capacity[3 * place + k] = value;
      mean[k] = (mean[k] ?? 0) + value / bins.length;
    }
  }
  const bySpan = new Map<number, Int32Array>();
  const groups = (span: number) => {
    const known = bySpan.get(span) ?? alignedGroups(bins, hosts, span);
    bySpan.set(span, known);
    return known;
  };
  return { bins, places, hosts, hostCount: hostIds.size, capacity, mean, groups };
}

function alignedGroups(bins: readonly Bin[], hosts: Int32Array, span: number): Int32Array {
  const firsts: number[] = [];
  for (const [place, { index }] of bins.entries()) {
    if (index % span !== 0 || place + span > bins.length) continue;
    let whole = true;
    for (let next = 1; next < span && whole; next += 1) {
      whole = hosts[place + next] === hosts[place] && bins[place + next]?.index === index + next;
    }
    if (whole) firsts.push(place);
  }
  return Int32Array.from(firsts);
}
