export { planAnswer } from "./decide/answer-plan.ts";
export { planEmbeddings } from "./decide/vectors.ts";
export { type FailEffect, type FailForm, parseFail } from "./decide/fail.ts";
export { type EngineFlags, engineOptionsFromFlags, type FlagsOutcome } from "./decide/flags.ts";
export { type EngineModel, type EngineOptions, engineOptionsSchema } from "./decide/options.ts";
export type { SeenRequest } from "./server/engine-parts.ts";
export type { JournalEntry, JournalKind } from "./server/journal.ts";
export { type EngineDeps, type EngineStats, type RunningEngine, startEngine } from "./server/start-engine.ts";
export { runPolicy, type RunMeasures } from "./cluster/compare.ts";
export { comparisonRows } from "./cluster/comparison-rows.ts";
export { POLICIES, type PolicyName } from "./cluster/policies/by-name.ts";
export {
  type Scenario,
  SCENARIOS,
  type ScenarioName,
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
export { type SimulateFigures, simulateSchema } from "./lan/figures-schema.ts";
export { type FarmParts, type ReadFarm, readFarm } from "./lan/read-farm.ts";
export { replay, type ReplayOptions } from "./lan/replay.ts";
export { type Spread, spreadOf, summarize, type Summary, type SummaryOptions } from "./lan/summary.ts";
export { type Ranked, variations, whatWouldHelp } from "./lan/what-would-help.ts";
export { lanReport } from "./lan/lan-report.ts";
export { TraceError } from "./trace/read/trace-error.ts";
export type { Trace } from "./trace/types.ts";
