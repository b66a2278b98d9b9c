// What a soak must hold, out of what was seen. Pure.
import { MISDEEDS } from "./rogue/misdeeds.ts";
import type { Tally } from "./load/tally.ts";
import { type Growth, heapGrowth } from "./watch/flat.ts";
import { mb } from "./watch/lines.ts";
import type { Sample } from "./watch/sample.ts";

export interface Seen {
  tally: Tally;
  /** Milliseconds under load. */
  ms: number;
  samples: Record<string, readonly Sample[]>;
  /** Each process before the load and long after it. */
  before: Record<string, Sample | undefined>;
  after: Record<string, Sample | undefined>;
  /** By misdeed, and `served`, at the worker that misbehaves. */
  misdeeds: Record<string, number>;
  /** Names of processes that ended before they were to. */
  ended: readonly string[];
  missedScrapes: number;
}

export interface Check {
  passed: boolean;
  text: string;
}

/** A few sockets may still be open for the next poll or scrape. */
const FDS_MORE = 8;
const KINDS = ["stream", "whole", "embeddings", "anthropic", "ollama", "large body", "flood", "realtime"];

export function checksOf(seen: Seen): Check[] {
  const { tally, misdeeds } = seen;
  const names = Object.keys(seen.samples);
  const broken = MISDEEDS.reduce((sum, misdeed) => sum + (misdeeds[misdeed] ?? 0), 0);
  const asked = broken + (misdeeds["served"] ?? 0);
  const unseen = KINDS.filter((kind) => (tally.kinds[kind] ?? 0) === 0);
  return [
    check(tally.lost === 0 && tally.requests > 0, `lost: ${tally.lost} of ${tally.requests} requests`),
    check(
      unseen.length === 0,
      `kinds of requests answered: ${unseen.length === 0 ? "all" : `not ${unseen.join(", ")}`}`,
    ),
    check(broken > 0, `the worker that misbehaves broke ${broken} of ${asked} requests (${percent(broken, asked)})`),
    check(seen.ended.length === 0, `processes that ended: ${seen.ended.join(", ") || "none"}`),
    check(seen.missedScrapes === 0, `looks at /metrics without an answer: ${seen.missedScrapes}`),
    ...names.map((name) => nothingUnderWay(name, seen.after[name])),
    ...names.map((name) => filesBack(name, seen.before[name], seen.after[name])),
    ...names.map((name) => flat(name, heapGrowth(seen.samples[name] ?? [], seen.ms))),
  ];
}

/** Whether a process is back where it was. */
export function settled(before: Sample | undefined, now: Sample | undefined): boolean {
  if (before === undefined || now === undefined) return false;
  return now.inflight === 0 && now.queued === 0 && now.fds <= before.fds + FDS_MORE;
}

function nothingUnderWay(name: string, after: Sample | undefined): Check {
  const { inflight = Number.NaN, queued = Number.NaN } = after ?? {};
  return check(inflight === 0 && queued === 0, `${name}, in flight at the end: ${inflight}, queued: ${queued}`);
}

function filesBack(name: string, before: Sample | undefined, after: Sample | undefined): Check {
  const [first, last] = [before?.fds ?? Number.NaN, after?.fds ?? Number.NaN];
  return check(last <= first + FDS_MORE, `${name}, open files before and after: ${first}, ${last}`);
}

function flat(name: string, { early, late, isFlat }: Growth): Check {
  return check(isFlat, `${name}, heap after the first quarter and at the end: ${mb(early)} MB, ${mb(late)} MB`);
}

function check(passed: boolean, text: string): Check {
  return { passed, text };
}

function percent(part: number, whole: number): string {
  return `${((part / whole) * 100).toFixed(1)} %`;
}
