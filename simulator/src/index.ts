export { planAnswer } from "./decide/answer-plan.ts";
export { planEmbeddings } from "./decide/vectors.ts";
export { type FailEffect, type FailForm, parseFail } from "./decide/fail.ts";
export { type EngineFlags, engineOptionsFromFlags, type FlagsOutcome } from "./decide/flags.ts";
export { type EngineModel, type EngineOptions, engineOptionsSchema } from "./decide/options.ts";
export type { SeenRequest } from "./server/engine-parts.ts";
export type { JournalEntry, JournalKind } from "./server/journal.ts";
export { type EngineDeps, type EngineStats, type RunningEngine, startEngine } from "./server/start-engine.ts";
