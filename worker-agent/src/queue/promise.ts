import { waitBound } from "./bound.ts";
import { swappedModels } from "./swappable.ts";
import type { ModelRules, SchedulerRules, WaitingJob } from "./types.ts";

/** The longest that loads and answers take, in milliseconds: what a promise on waiting stands on. */
export interface Longest {
  /** The longest load seen of a model, else its time-out. */
  loadMs(model: string): number;
  /** The longest answer of any model. */
  answerMs: number;
}

/** What every promise of one moment stands on: worked out once, since an engine may list hundreds of models. */
export interface Terms {
  readonly models: ReadonlyMap<string, ModelRules>;
  /** Names of those that must be swapped against each other. */
  readonly swapped: ReadonlySet<string>;
  /** The rules that their bound is computed by. */
  readonly bound: SchedulerRules;
  readonly answerMs: number;
  /** The longest load of one that is swapped, in milliseconds; 0: none is. */
  readonly swapMs: number;
  /** One load of each model, with the answers that those must wait for, in milliseconds. */
  readonly allLoadsMs: number;
  readonly maxWait: number;
}

export function termsOf(rules: SchedulerRules, longest: Longest): Terms {
  const swapped = swappedModels(rules);
  const loads = rules.models.map(({ name }) => longest.loadMs(name));
  const answerMs = Math.max(1, longest.answerMs);
  return {
    models: new Map(rules.models.map((model) => [model.name, model])),
    swapped: new Set(swapped.map(({ name }) => name)),
    // Of the models it reads no more than the fewest slots.
    bound: {
      ...rules,
      models: swapped
        .slice()
        .sort((a, b) => a.slots - b.slots)
        .slice(0, 1),
    },
    answerMs,
    swapMs: swapped.reduce((most, { name }) => Math.max(most, longest.loadMs(name)), 0),
    allLoadsMs: loads.reduce((sum, ms) => sum + ms, 0) + swapped.length * answerMs,
    maxWait: rules.maxWait,
  };
}

/** Where a request stands in its model's queue. */
export interface Standing {
  /** From 1. */
  place: number;
  /** Its model is loaded now. */
  loaded: boolean;
}

/**
 * The longest that a request for `model` that came now can wait for its grant, in milliseconds:
 *
 * 1. a model that must be swapped against others: `waitBound`, with the longest load of any of them;
 * 2. one that stays (pinned, or all of them fit at once): the answers before it in its own slots. If it is not loaded
 *    yet, also its load and one of each model that comes before it, each after the answers that it must wait for.
 *
 * It holds while no load and no answer takes longer than `longest` says and no engine dies. A failed load is one; who
 * waits for the model that failed is answered then.
 */
export function promisedWait(model: ModelRules, at: Standing, terms: Terms): number {
  const { place, loaded } = at;
  const { swapped, bound, swapMs, answerMs, allLoadsMs } = terms;
  if (swapped.has(model.name)) {
    return waitBound(bound, { longestLoad: swapMs, longestAnswer: answerMs, models: swapped.size, place }); // (1)
  }
  return (loaded ? 0 : allLoadsMs) + Math.ceil(place / model.slots) * answerMs; // (2)
}

/** What a waiting job was told once: its standing then. It is still worth what it was. */
export interface Told extends Standing {
  at: number;
  /** It may be overtaken by interactive ones. */
  batch: boolean;
  /** How long it had waited by then. */
  waitedMs: number;
}

/**
 * What is left of the promise for a job that waits already, never negative. `before`: the best standing that it was
 * told, if any; what it is to be told by from now on comes back too, so that a promise only gets better while the
 * figures it stands on stay.
 *
 * A request that waits where it could have come to now is promised what a newcomer is, less its wait up to `maxWait`:
 * so long it counts towards being due (R2). Beyond that its wait is no more than its place: what brought it there may
 * have been turns of its own model, after which others' turns come. A batch job may be overtaken for `maxWait` first
 * (R7). Callers who come later take their turns too: the more of them, the further back a caller's later jobs are.
 * While its model is loaded, being due does not help it: the turn may have had its grants, and close one answer later.
 */
export function promisedRest(
  job: WaitingJob,
  before: Told | null,
  now: { at: number; loaded: boolean },
  terms: Terms,
): { restMs: number; told: Told } | null {
  const model = terms.models.get(job.model);
  if (model === undefined) return null;
  const swapped = terms.swapped.has(model.name);
  const end = (told: Told) => {
    const batch = told.batch ? terms.maxWait : 0;
    const counted = told.batch ? terms.maxWait : swapped ? countedWait(told, terms) : 0;
    return told.at + promisedWait(model, told, terms) + batch - Math.min(told.waitedMs, counted);
  };
  const batch = job.priority === "batch";
  const fresh = { at: now.at, place: job.position, loaded: now.loaded, batch, waitedMs: job.waitedMs };
  const told = before !== null && end(before) <= end(fresh) ? before : fresh;
  return { restMs: Math.max(0, end(told) - now.at), told };
}

/** How much of a job's wait counts towards its promise at most: `waitBound` has an answer in its first term as well. */
function countedWait({ loaded }: Told, { maxWait, answerMs }: Terms): number {
  return loaded ? Math.max(0, maxWait - answerMs) : maxWait;
}
