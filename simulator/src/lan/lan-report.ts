import { Collector } from "../report/collector.ts";
import type { Outcome, Report } from "../report/types.ts";
import type { Trace } from "../trace/types.ts";
import { OUTCOME } from "./ledger.ts";
import type { Replay } from "./replay.ts";

const OUTCOMES: Readonly<Record<number, Outcome>> = {
  [OUTCOME.served]: "done",
  [OUTCOME.refused]: "refused",
  [OUTCOME.timedOut]: "timed-out",
  [OUTCOME.unknown]: "failed",
};
/** Points over time. */
const WINDOWS = 200;

/** A replay in the shape that all simulated runs are reported in, with its course over time. */
export function lanReport(name: string, trace: Trace, { ledger, workers, endedAt }: Replay, targetMs: number): Report {
  const { applications, at, app, output } = trace;
  const collector = new Collector({
    applications: applications.map((application) => ({
      name: application,
      ttftMs: targetMs,
      tpotMs: Number.POSITIVE_INFINITY,
    })),
    spanMs: endedAt,
    // Whole seconds: what adds up windows takes no fractions.
    windowMs: 1_000 * Math.max(1, Math.ceil(endedAt / WINDOWS / 1_000)),
  });
  for (const [i, arrivedAt] of at.entries()) {
    const ended = ledger.endedAt[i] ?? endedAt;
    const startedAt = ledger.startedAt[i] ?? Number.NaN;
    const waitedMs = (Number.isNaN(startedAt) ? ended : startedAt) - arrivedAt;
    const outcome = OUTCOMES[ledger.outcome[i] ?? OUTCOME.unknown] ?? "failed";
    const firstTokenAt = ledger.firstTokenAt[i] ?? ended;
    collector.ended(app[i] ?? 0, arrivedAt, firstTokenAt, ended, output[i] ?? 0, outcome, waitedMs);
  }
  collector.devices(0, workers.length);
  const loads = workers.reduce((sum, worker) => sum + worker.loads, 0);
  for (let load = 0; load < loads; load += 1) collector.swapped();
  const loadingMs = workers.reduce((sum, worker) => sum + worker.loadingMs, 0);
  return collector.report(name, endedAt, { loads, load_seconds: loadingMs / 1_000 });
}
