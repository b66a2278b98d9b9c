import type { Clock } from "@farmgate/shared";
import type { FailPlan } from "../decide/fail-plan.ts";
import type { EngineModel, EngineOptions } from "../decide/options.ts";
import type { Desk } from "./desk.ts";
import type { Journal } from "./journal.ts";

/** One request as the engine saw it, for whoever watches. */
export interface SeenRequest {
  method: string;
  /** With its query. */
  url: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Buffer;
  /** Milliseconds on the engine's clock, when the request was complete. */
  at: number;
}

/** What the routes of one engine work with. */
export interface EngineParts {
  options: EngineOptions;
  clock: Clock;
  desk: Desk;
  journal: Journal;
  /** The failures in force now. */
  fails(): FailPlan;
  /** By name or alias; a single-model engine has one answer for every name. */
  modelNamed(name: string): EngineModel | undefined;
  seen(request: SeenRequest): void;
}
