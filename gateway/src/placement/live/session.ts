import type { Deeds } from "./deeds.ts";
import type { Guarded } from "./guard-actions.ts";
import type { LearningTurns } from "./learning-turns.ts";
import type { Observations } from "./observations.ts";
import type { OracleKeeper } from "./oracle-keeper.ts";
import type { MadePlan, Planner } from "./plan-with.ts";
import type { PlanWords } from "./plan-words.ts";
import type { Regrets } from "./regrets.ts";
import type { PlacementSettings } from "./settings.ts";

/** What runs while placement is on. */
export interface Session {
  settings: PlacementSettings;
  seen: Observations;
  learning: OracleKeeper;
  planner: Planner;
  deeds: Deeds;
  regrets: Regrets;
  plan: MadePlan | null;
  /** The last plan that had anything to do. */
  acted: { at: number; guarded: readonly Guarded[] } | null;
  /** Models of which the Oracle is plainly wrong. */
  wrong: ReadonlySet<string>;
  /** Why the plain farm goes on alone, for now; null: it does not. */
  trouble: string | null;
  retryAt: number;
  turns: LearningTurns;
  /** When a request last came or ended. */
  usedAt: number;
  words: PlanWords;
  /** Since when each copy is to go, by the id of the replica. */
  leaving: ReadonlyMap<string, number>;
}

/** What it shows of itself. */
export type SessionView = Readonly<Omit<Session, "words">>;

/** No load is left that could have changed since the last plan: then `stableEvery` is often enough. */
export function isQuiet({ usedAt, plan, settings }: Session, now: number): boolean {
  if (plan === null || plan.at <= usedAt + settings.window) return false;
  return now < plan.at + settings.stableEvery;
}
