import { nameKey } from "@farmgate/shared";
import {
  afterAnswer,
  afterFault,
  afterSilence,
  type Breaker,
  isSameCrash,
  isTrialDue,
  type PairFault,
  type PairSilence,
} from "../routing/breaker.ts";
import { failsOften, type Outcome, withOutcome } from "../routing/fault-rate.ts";
import { namedModel } from "./named-model.ts";
import type { TrackedWorker } from "./tracked.ts";

/** Breakers kept of one worker: callers type names at will, so their number is bounded. */
const MAX_BREAKERS = 1_000;

/** A request for the model failed by the worker's fault. */
export function faulted(worker: TrackedWorker, fault: PairFault, now: number): TrackedWorker {
  const key = breakerKey(worker, fault.model);
  const last = worker.breakers.get(key);
  if (last !== undefined && last.openUntil === null && isSameCrash(last, fault)) return worker;
  const outcomes = withOutcome(worker.outcomes.get(key) ?? [], { at: now, failed: true });
  const next = afterFault(last, fault, now, failsOften(outcomes));
  if (next === last) return worker;
  return withBreaker(withOutcomes(worker, key, outcomes), key, next);
}

/** Nothing comes of the pair. */
export function silent(worker: TrackedWorker, silence: PairSilence, now: number): TrackedWorker {
  const key = breakerKey(worker, silence.model);
  const last = worker.breakers.get(key);
  const next = afterSilence(last, silence, now);
  return next === last ? worker : withBreaker(worker, key, next);
}

/** A good answer of the model began, or has come whole. */
export function relieved(worker: TrackedWorker, model: string, whole: boolean): TrackedWorker {
  if (worker.breakers.size === 0) return worker;
  const key = breakerKey(worker, model);
  const last = worker.breakers.get(key);
  const next = last === undefined ? undefined : afterAnswer(last, whole);
  if (next === last) return worker;
  return { ...worker, breakers: next == null ? without(worker.breakers, key) : put(worker.breakers, key, next) };
}

/** A good answer of the model has come whole. It is counted only where failures of the last minute are. */
export function served(worker: TrackedWorker, model: string, now: number): TrackedWorker {
  const better = relieved(worker, model, true);
  if (better.outcomes.size === 0) return better;
  const key = breakerKey(worker, model);
  const outcomes = better.outcomes.get(key);
  if (outcomes === undefined) return better;
  return withOutcomes(better, key, withOutcome(outcomes, { at: now, failed: false }));
}

/** A request was sent there that is the pair's trial, if one is due. */
export function tried(worker: TrackedWorker, model: string, at: number): TrackedWorker {
  const key = breakerKey(worker, model);
  const breaker = worker.breakers.get(key);
  if (breaker === undefined || !isTrialDue(breaker, at)) return worker;
  return { ...worker, breakers: put(worker.breakers, key, { ...breaker, trialAt: at }) };
}

/**
 * The trial that was sent then has ended, however: where it told nothing of the pair, the next request is the trial. It
 * is looked for by its time as well: a catalogue that came meanwhile may have given the name to another model.
 */
export function trialOver(worker: TrackedWorker, model: string, at: number): TrackedWorker {
  const key = breakerKey(worker, model);
  const own = worker.breakers.get(key);
  const [began, breaker] =
    own?.trialAt === at ? [key, own] : ([...worker.breakers].find(([, { trialAt }]) => trialAt === at) ?? [key, own]);
  if (breaker?.trialAt !== at) return worker;
  return { ...worker, breakers: put(worker.breakers, began, { ...breaker, trialAt: null }) };
}

/** An open breaker is judged by its trials; what was before counts no more once it closes. */
function withBreaker(worker: TrackedWorker, key: string, breaker: Breaker): TrackedWorker {
  const breakers = put(worker.breakers, key, breaker);
  return {
    ...worker,
    breakers,
    outcomes: breaker.openUntil === null ? worker.outcomes : without(worker.outcomes, key),
  };
}

function withOutcomes(worker: TrackedWorker, key: string, outcomes: readonly Outcome[]): TrackedWorker {
  const all = outcomes.length === 0 ? without(worker.outcomes, key) : put(worker.outcomes, key, outcomes);
  return { ...worker, outcomes: all };
}

/** As the newest entry; the oldest go where there are too many. */
function put<T>(map: ReadonlyMap<string, T>, key: string, value: T): ReadonlyMap<string, T> {
  const next = new Map(map);
  next.delete(key);
  next.set(key, value);
  for (const oldest of next.keys()) {
    if (next.size <= MAX_BREAKERS) break;
    next.delete(oldest);
  }
  return next;
}

function without<T>(map: ReadonlyMap<string, T>, key: string): ReadonlyMap<string, T> {
  if (!map.has(key)) return map;
  const next = new Map(map);
  next.delete(key);
  return next;
}

/** One breaker for all names that the worker has for the model. */
function breakerKey(worker: TrackedWorker, model: string): string {
  const key = nameKey(model);
  return nameKey(namedModel(worker, key)?.id ?? key);
}
