import { FailureBudget } from "./failure-budget.ts";
import { ModelQueue } from "./model-queue.ts";
import { Place } from "./place.ts";
import { RetryPause } from "./retry-pause.ts";
import type { Turn } from "./turn.ts";
import type { ModelRules, SchedulerRules } from "./types.ts";

/** All that the scheduler keeps of one model. */
export interface ModelState {
  readonly name: string;
  rules: ModelRules;
  /** Why it can never be loaded beside the pinned models; null: it can. */
  neverFits: string | null;
  readonly queue: ModelQueue;
  readonly place: Place;
  readonly failures: FailureBudget;
  /** For loads that nobody waits for. */
  readonly retry: RetryPause;
  /** It is loaded, with a turn; null: it is not. */
  turn: Turn | null;
  /** Requests granted and not yet done, also of an engine that was lost meanwhile. */
  running: number;
  /** `load` jobs granted and not yet done; they take no slot. */
  ordered: number;
  /** When it last had a job, or became ready. */
  quietSince: number;
  /** Rises with each grant of any model. */
  usedSeq: number;
  /** A pinned model: since when it is not loaded; null: it is, or that was not looked at yet. */
  missingSince: number | null;
  /** To be loaded once at start. */
  preload: boolean;
  /** Its engine died, and it is brought back where there is room. */
  bringBack: boolean;
  /** No longer among the models; kept until what runs has ended. */
  gone: boolean;
}

export function createModel(model: ModelRules, rules: SchedulerRules): ModelState {
  return {
    name: model.name,
    rules: model,
    neverFits: null,
    queue: new ModelQueue(rules.maxWait),
    place: new Place(rules.maxWait),
    failures: new FailureBudget(rules),
    retry: new RetryPause(rules.failureReset),
    turn: null,
    running: 0,
    ordered: 0,
    quietSince: 0,
    usedSeq: 0,
    missingSince: null,
    preload: model.preload,
    bringBack: false,
    gone: false,
  };
}

/** Jobs under way, answers and orders. */
export function busyWith(model: ModelState): number {
  return model.running + model.ordered;
}

/** Nobody waits for it and nothing of it runs. */
export function isIdle(model: ModelState): boolean {
  return model.queue.size === 0 && busyWith(model) === 0;
}

/** Whether it could take one more job now, of those that wait. */
export function hasRoom(model: ModelState): boolean {
  return model.queue.loads > 0 || (model.queue.size > 0 && model.running < model.rules.slots);
}
