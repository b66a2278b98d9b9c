import { nameKey } from "@farmgate/shared";
import { afterAnswer, afterFault, type PairFault } from "../routing/breaker.ts";
import { namedModel } from "./named-model.ts";
import type { TrackedWorker } from "./tracked.ts";

/** Breakers kept of one worker: callers type names at will, so their number is bounded. */
const MAX_BREAKERS = 1_000;

/** A request for the model failed by the worker's fault. */
export function faulted(worker: TrackedWorker, fault: PairFault, now: number): TrackedWorker {
  const key = breakerKey(worker, fault.model);
  const last = worker.breakers.get(key);
  const next = afterFault(last, fault, now);
  if (next === last) return worker;
  const breakers = new Map(worker.breakers);
  breakers.delete(key);
  breakers.set(key, next);
  for (const oldest of breakers.keys()) {
    if (breakers.size <= MAX_BREAKERS) break;
    breakers.delete(oldest);
  }
  return { ...worker, breakers };
}

/** A good answer of the model began, or has come whole. */
export function relieved(worker: TrackedWorker, model: string, whole: boolean): TrackedWorker {
  if (worker.breakers.size === 0) return worker;
  const key = breakerKey(worker, model);
  const last = worker.breakers.get(key);
  const next = last === undefined ? undefined : afterAnswer(last, whole);
  if (next === last) return worker;
  const breakers = new Map(worker.breakers);
  if (next == null) breakers.delete(key);
  else breakers.set(key, next);
  return { ...worker, breakers };
}

/** One breaker for all names that the worker has for the model. */
function breakerKey(worker: TrackedWorker, model: string): string {
  const key = nameKey(model);
  return nameKey(namedModel(worker, key)?.id ?? key);
}
