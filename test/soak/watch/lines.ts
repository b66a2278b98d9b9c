// What the soak prints. Pure.
import { aligned } from "../../bench/report/table.ts";
import { type Tally, toldOf } from "../load/tally.ts";
import type { Sample } from "./sample.ts";

const MB = 1_024 ** 2;

/** One line while it goes on; `cpu` is the share of all cores that everything took, 0 to 1. */
export function progressLine(
  ms: number,
  tally: Tally,
  cpu: number,
  samples: Record<string, Sample | undefined>,
): string {
  const { requests, whole, left, lost } = tally;
  const ends = `requests ${requests}, whole ${whole}, told ${toldOf(tally)}${toldText(tally)}, left ${left}, lost ${lost}`;
  const processes = Object.entries(samples).map(
    ([name, sample]) => `${name}: ${sample === undefined ? "no answer" : sampleText(sample)}`,
  );
  return [`${clockText(ms)}  ${ends}; cpu ${Math.round(cpu * 100)} %`, ...processes].join("\n       ");
}

export function toldText({ told }: Tally): string {
  const parts = Object.entries(told).toSorted(([, a], [, b]) => b - a);
  return parts.length === 0 ? "" : ` (${parts.map(([as, times]) => `${as} ${times}`).join(", ")})`;
}

/** A table of the processes at a few moments. */
export function momentsTable(
  moments: readonly (readonly [when: string, samples: Record<string, Sample | undefined>])[],
): string {
  const head = ["process", "when", "fds", "memory, MB", "heap, MB", "external, MB", "in flight", "queued"];
  const names = Object.keys(moments[0]?.[1] ?? {});
  const rows = names.flatMap((name) =>
    moments.map(([when, samples]) => {
      const sample = samples[name];
      if (sample === undefined) return [name, when, "-", "-", "-", "-", "-", "-"];
      const { fds, resident, heap, external, inflight, queued } = sample;
      return [name, when, String(fds), ...[resident, heap, external].map(mb), String(inflight), String(queued)];
    }),
  );
  return aligned([head, ...rows]);
}

export function mb(bytes: number): string {
  return (bytes / MB).toFixed(1);
}

function sampleText({ fds, resident, heap, inflight, queued }: Sample): string {
  return `fds ${fds}, memory ${mb(resident)} MB, heap ${mb(heap)} MB, in flight ${inflight}, queued ${queued}`;
}

function clockText(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  return `${String(Math.floor(seconds / 60)).padStart(2, "0")}:${String(seconds % 60).padStart(2, "0")}`;
}
