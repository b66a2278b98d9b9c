import { formatDuration } from "@farmgate/shared";
import { call, type Failure, look, lookUntil, type Order, STOPPED, stateIn } from "./orders.ts";

/**
 * Has an engine take a model out of memory, and waits until it is. Null: it is; else what went wrong, as a sentence.
 *
 * 1. Its list is looked at first: a dead engine holds nothing, what is not loaded need not go, and what is loaded can
 *    have names of its own (LM Studio's copies).
 * 2. The engine's calls are made, one after the other. It has none: the model stays.
 * 3. The list must say that it is gone: some engines answer at once and let running answers end first.
 */
export async function unload(order: Order): Promise<Failure> {
  const { engine, model } = order;
  const { url } = engine.config;
  // 1
  const before = await look(order);
  if (before?.kind === "refused" || isGone(stateIn(before, model))) return null;
  // 2
  const listed = engine.listed(model);
  const calls = listed === null ? [] : (engine.adapter?.unload(listed) ?? []);
  if (calls.length === 0) return `${engine.engine ?? "the engine"} at ${url} has no call that unloads ${model.name}`;
  for (const one of calls) {
    const { failure } = await call(order, one);
    if (failure !== null) return failure;
  }
  // 3
  const gone = await lookUntil(order, (seen) => {
    const state = stateIn(seen, model);
    return seen?.kind === "refused" || state === "unknown" || isGone(state) ? true : null;
  });
  if (gone !== null) return null;
  if (order.signal.aborted) return STOPPED;
  return `${url} still has ${model.engineName} loaded after ${formatDuration(model.timeoutMs)}`;
}

function isGone(state: ReturnType<typeof stateIn>): boolean {
  return state === "cold" || state === "failed" || state === "unlisted";
}
