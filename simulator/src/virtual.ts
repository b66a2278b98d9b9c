// The farm and the cluster in virtual time, by the policies of the programs themselves. It is much to load: the
// simulated engine does without.
export { runPolicy, type RunMeasures } from "./cluster/compare.ts";
export { comparisonRows } from "./cluster/comparison-rows.ts";
export {
  type Scenario,
  type ScenarioOptions,
  scenarioOf,
  TRACE_FILES,
} from "./cluster/scenario.ts";
export { Collector } from "./report/collector.ts";
export { comparison, markdownTable } from "./report/comparison.ts";
export { writeReports } from "./report/files/write-reports.ts";
export { Progress } from "./report/progress.ts";
export type { Report } from "./report/types.ts";
export { openTrace } from "./trace/files/open-trace.ts";
export { type ReadTrace, readTrace } from "./trace/read/read-trace.ts";
export { baselines, type NamedFarm } from "./lan/baselines.ts";
export { AT_ONCE_WORDS, builtInBurst, builtInDay, DAY_WORDS } from "./lan/built-in-day.ts";
export type { LanFarm } from "./lan/farm.ts";
export { type FarmParts, type ReadFarm, readFarm } from "./lan/read-farm.ts";
export { replay, type ReplayOptions } from "./lan/replay.ts";
export { type Spread, spreadOf, summarize, type Summary, type SummaryOptions } from "./lan/summary.ts";
export { type Ranked, variations, whatWouldHelp } from "./lan/what-would-help.ts";
export { lanReport } from "./lan/lan-report.ts";
export { TraceError } from "./trace/read/trace-error.ts";
export type { Trace } from "./trace/types.ts";
