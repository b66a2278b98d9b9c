import type { Trace } from "../trace/types.ts";
import type { LanFarm } from "./farm.ts";
import { type Ledger, OUTCOME } from "./ledger.ts";
import type { Replay } from "./replay.ts";

/** Milliseconds. */
export interface Spread {
  mean: number;
  p50: number;
  p90: number;
  p99: number;
  longest: number;
}

interface WorkerSummary {
  name: string;
  served: number;
  loads: number;
  loadSeconds: number;
  /** Shares of the replayed time. */
  busy: number;
  loading: number;
  /** Answers under way on average, over the slots that its models have at once. */
  slotsUsed: number;
  /** In an agent's queue: the longest wait, in milliseconds, and its promise; null: nobody waited, or no promise. */
  longestWaitMs: number | null;
  promisedMs: number | null;
  /** The largest share that a wait took of its promise; null: as above. */
  ofPromise: number | null;
}

/** What a replay shows. Times in milliseconds; shares of 1. */
export interface Summary {
  requests: number;
  served: number;
  refused: number;
  timedOut: number;
  unknown: number;
  /** Until an engine began with it: of all that were begun. */
  wait: Spread;
  /** Until its first token: of all that were served. */
  ttft: Spread;
  /** Until the first token, a miss with the whole time that its caller would have waited. */
  meanWaitWithMissesMs: number;
  targetMs: number;
  /** First token within the target, of all requests; a miss is late. */
  onTime: number;
  loads: number;
  loadSeconds: number;
  /** From the first arrival to the last end. */
  makespanMs: number;
  workers: readonly WorkerSummary[];
  models: readonly { model: string; loads: number }[];
}

export interface SummaryOptions {
  targetMs: number;
  callerTimeoutMs: number;
}

export function summarize(farm: LanFarm, trace: Trace, run: Replay, options: SummaryOptions): Summary {
  const { ledger } = run;
  const count = (outcome: number) => ledger.outcome.reduce((sum, one) => sum + (one === outcome ? 1 : 0), 0);
  const waits: number[] = [];
  const firsts: number[] = [];
  let onTime = 0;
  let waited = 0;
  for (const [i, at] of trace.at.entries()) {
    const started = ledger.startedAt[i] ?? Number.NaN;
    if (!Number.isNaN(started)) waits.push(started - at);
    if (ledger.outcome[i] !== OUTCOME.served) {
      waited += options.callerTimeoutMs;
      continue;
    }
    const ttft = (ledger.firstTokenAt[i] ?? 0) - at;
    firsts.push(ttft);
    waited += ttft;
    if (ttft <= options.targetMs) onTime += 1;
  }
  const requests = trace.at.length;
  const makespanMs = run.endedAt - (trace.at[0] ?? 0);
  const workers = run.workers.map((_, i) => workerSummary(farm, run, i, makespanMs));
  return {
    requests,
    served: count(OUTCOME.served),
    refused: count(OUTCOME.refused),
    timedOut: count(OUTCOME.timedOut),
    unknown: count(OUTCOME.unknown),
    wait: spreadOf(waits),
    ttft: spreadOf(firsts),
    meanWaitWithMissesMs: requests === 0 ? 0 : waited / requests,
    targetMs: options.targetMs,
    onTime: requests === 0 ? 1 : onTime / requests,
    loads: workers.reduce((sum, { loads }) => sum + loads, 0),
    loadSeconds: workers.reduce((sum, { loadSeconds }) => sum + loadSeconds, 0),
    makespanMs,
    workers,
    models: loadsByModel(run),
  };
}

/** Of no values: all 0. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = Float64Array.from(values).sort();
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
  const mean = sorted.length === 0 ? 0 : sorted.reduce((sum, value) => sum + value, 0) / sorted.length;
  return { mean, p50: at(0.5), p90: at(0.9), p99: at(0.99), longest: at(1) };
}

function workerSummary(farm: LanFarm, run: Replay, place: number, makespanMs: number): WorkerSummary {
  const figures = run.workers[place];
  const worker = farm.workers[place];
  if (figures === undefined || worker === undefined) throw new Error(`the farm has no worker ${place}`);
  const { name, served, loads, loadingMs, busyMs, answeringMs } = figures;
  const share = (ms: number) => (makespanMs === 0 ? 0 : ms / makespanMs);
  const most = worker.kind === "agent" ? worker.models.map(({ speed }) => speed.slots) : [worker.options.slots];
  return {
    name,
    served,
    loads,
    loadSeconds: loadingMs / 1_000,
    busy: share(busyMs),
    loading: share(loadingMs),
    slotsUsed: share(answeringMs) / Math.max(1, ...most),
    ...starvation(run.ledger, place),
  };
}

function starvation(ledger: Ledger, place: number): Pick<WorkerSummary, "longestWaitMs" | "promisedMs" | "ofPromise"> {
  let longest: number | null = null;
  let promised: number | null = null;
  let share: number | null = null;
  for (const [i, worker] of ledger.worker.entries()) {
    const wait = ledger.queuedMs[i] ?? Number.NaN;
    if (worker !== place || Number.isNaN(wait) || wait === 0) continue;
    const bound = ledger.promisedMs[i] ?? Number.NaN;
    if (longest === null || wait > longest) {
      longest = wait;
      promised = Number.isNaN(bound) ? null : bound;
    }
    if (!Number.isNaN(bound) && bound > 0) share = Math.max(share ?? 0, wait / bound);
  }
  return { longestWaitMs: longest, promisedMs: promised, ofPromise: share };
}

/** The most loaded first. */
function loadsByModel({ loadsOf }: Replay): { model: string; loads: number }[] {
  const sums = new Map<string, number>();
  for (const worker of loadsOf) for (const [model, loads] of worker) sums.set(model, (sums.get(model) ?? 0) + loads);
  return [...sums].map(([model, loads]) => ({ model, loads })).sort((a, b) => b.loads - a.loads);
}
