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

/** Where a request stands in its model's queue. */
export interface Standing {
  /** From 1. */
  place: number;
  /** Its model is loaded now. */
  loaded: boolean;
}

/** What is the same for all promises of one moment; there may be thousands of models. */
export interface PromiseBasis {
  readonly byName: ReadonlyMap<string, ModelRules>;
  /** Names of the models that must be swapped against each other. */
  readonly swapped: ReadonlySet<string>;
  /** The rules with the one of those that has the fewest slots, which is all that `waitBound` asks of models. */
  readonly boundRules: SchedulerRules;
  readonly maxWait: number;
  /** The longest load of a model that is swapped, and one load of each model, in milliseconds. */
  readonly longestLoad: number;
  readonly allLoads: number;
  readonly answer: number;
}

export function promiseBasis(rules: SchedulerRules, longest: Longest): PromiseBasis {
  const swapped = swappedModels(rules);
  return {
    byName: new Map(rules.models.map((model) => [model.name, model])),
    swapped: new Set(swapped.map(({ name }) => name)),
    boundRules: { ...rules, models: fewestSlots(swapped) },
    maxWait: rules.maxWait,
    longestLoad: swapped.reduce((most, { name }) => Math.max(most, longest.loadMs(name)), 0),
    allLoads: rules.models.reduce((sum, { name }) => sum + longest.loadMs(name), 0),
    answer: Math.max(1, longest.answerMs),
  };
}

/** The model with the fewest slots; none of none. */
export function fewestSlots<M extends Pick<ModelRules, "slots">>(models: readonly M[]): readonly M[] {
  const [first] = models;
  return first === undefined
    ? []
    : [models.reduce((least, model) => (model.slots < least.slots ? model : least), first)];
}

/**
 * The longest that a request for `model` that came now can wait for its grant, in milliseconds:
 *
 * 1. a model that must be swapped against others: `waitBound`, with the longest load of any of them;
 * 2. one that stays (pinned, or all of them fit at once): the answers before it in its own slots. If it is not loaded
 *    yet, also its load and one of each model that comes before it, each after the answers that it must wait for.
 *
 * It holds while no load and no answer takes longer than the basis counts with and no engine dies. A failed load is
 * one; who waits for the model that failed is answered then.
 */
export function promisedWait(model: ModelRules, at: Standing, basis: PromiseBasis): number {
  const { place, loaded } = at;
  const { swapped, boundRules, longestLoad, allLoads, answer } = basis;
  if (swapped.has(model.name)) {
    return waitBound(boundRules, { longestLoad, longestAnswer: answer, models: swapped.size, place }); // (1)
  }
  const loads = allLoads + swapped.size * answer;
  return (loaded ? 0 : loads) + Math.ceil(place / model.slots) * answer; // (2)
}

/** What a waiting job was told once: its standing then. It is still worth what it was. */
export interface Told extends Standing {
  at: number;
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
 * have been turns of its own model, after which others' turns come.
 */
export function promisedRest(
  job: WaitingJob,
  before: Told | null,
  now: { at: number; loaded: boolean },
  basis: PromiseBasis,
): { restMs: number; told: Told } | null {
  const model = basis.byName.get(job.model);
  if (model === undefined) return null;
  const counts = basis.swapped.has(model.name) ? basis.maxWait : 0;
  const end = (told: Told) => told.at + promisedWait(model, told, basis) - Math.min(told.waitedMs, counts);
  const fresh = { at: now.at, place: job.position, loaded: now.loaded, waitedMs: job.waitedMs };
  const told = before !== null && end(before) <= end(fresh) ? before : fresh;
  return { restMs: Math.max(0, end(told) - now.at), told };
}
