import { formatDuration } from "@farmgate/shared";
import type { Failure } from "./load.ts";
import { adapterOf, call, look, lookUntil, type Order, stateIn } from "./orders.ts";

/**
 * Has an engine take a model out of memory, and waits until it is. Null: it is; else what went wrong, as a sentence.
 *
 * 1. Its list is looked at first: a dead engine holds nothing, what is not loaded need not go, and what is loaded can
 *    have names of its own (LM Studio's instances).
 * 2. The engine's calls are made, one after the other. It has none: the model stays.
 * 3. The list must say that it is gone: some engines answer at once and let running answers end first.
 */
export async function unload(order: Order): Promise<Failure> {
  const { engine, model } = order;
  const { url } = engine.config;
  // 1
  const before = await look(order);
  if (before?.kind === "refused") return null;
  const state = stateIn(before, model);
  if (state === "cold" || state === "failed" || state === "unlisted") return null;
  // 2
  const listed = engine.listed(model);
  const calls = listed === null ? [] : (adapterOf(engine)?.unload(listed) ?? []);
  if (calls.length === 0) return `${engine.engine ?? "the engine"} at ${url} has no call that unloads a model`;
  for (const one of calls) {
    const refused = await call(order, one);
    if (refused !== null) return refused;
  }
  // 3
  const gone = await lookUntil(order, (result) => {
    const now = stateIn(result, model);
    return result?.kind === "refused" || (now !== null && now !== "warm" && now !== "loading") ? true : null;
  });
  if (gone !== null) return null;
  if (order.signal.aborted) return "the unload was stopped";
  return `${url} still has ${model.engineName} loaded after ${formatDuration(model.timeoutMs)}`;
}
