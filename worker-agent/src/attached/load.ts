import { formatDuration } from "@farmgate/shared";
import { smallestRequest } from "./load-request.ts";
import { adapterOf, call, look, lookUntil, type Order, stateIn } from "./orders.ts";

/** Null: the model is loaded; else what went wrong, as a sentence. */
export type Failure = string | null;

/**
 * Engines that unload what nobody asks for, as long after the last request as their own default says. Their load call
 * says to keep the model, so it is made even when another client has loaded the model before.
 */
const KEEPS_BY_LOAD: ReadonlySet<string> = new Set(["ollama"]);

/**
 * Has an engine load a model, and waits until it is.
 *
 * 1. Its list is looked at first: a dead engine loads nothing, and a second load of a loaded model can be a second
 *    copy of it (LM Studio).
 * 2. It has a call for loads. (a) Done with its answer. (b) Done when the list says so.
 * 3. It has none, but loads what a request asks for: the smallest one is sent, and its answer is the proof.
 */
export async function load(order: Order): Promise<Failure> {
  const { engine, model } = order;
  // 1
  const before = await look(order);
  if (before?.kind === "refused" || before?.kind === "dead") {
    return `${engine.config.url} did not answer: ${before.reason}`;
  }
  const adapter = adapterOf(engine);
  if (adapter === null) return `${engine.config.url} shows no list of models: ${engine.trouble ?? "not in time"}`;
  if (stateIn(before, model) === "warm" && !KEEPS_BY_LOAD.has(adapter.engine)) return null;
  // 3
  const loading = adapter.load(model.engineName);
  if (loading === null) return call(order, smallestRequest(model));
  // 2
  const refused = await call(order, loading);
  if (refused !== null || loading.done === "answer") return refused; // (a)
  return loadedByList(order); // (b)
}

async function loadedByList(order: Order): Promise<Failure> {
  const { engine, model } = order;
  const { url } = engine.config;
  let wasLoading = false;
  const result = await lookUntil(order, (seen): { failure: Failure } | null => {
    const state = stateIn(seen, model);
    if (state === "warm") return { failure: null };
    if (state === "failed") return { failure: `${url} could not load ${model.engineName}` };
    if (state === "unlisted") return { failure: `${url} does not list ${model.engineName} any more` };
    if (state === "cold" && wasLoading) return { failure: `${url} gave up loading ${model.engineName}` };
    wasLoading ||= state === "loading";
    // One that is too busy with the load to answer in time is still there.
    return seen?.kind === "refused" ? { failure: `${url} did not answer: ${seen.reason}` } : null;
  });
  if (result !== null) return result.failure;
  if (order.signal.aborted) return "the load was stopped";
  return `${url} had not loaded ${model.engineName} within ${formatDuration(model.timeoutMs)}`;
}
