import { type Adapter, type CatalogModel, smallestRequest } from "@farmgate/engines";
import { formatDuration } from "@farmgate/shared";
import { call, type Failure, look, lookUntil, type Order, STOPPED, silence, stateIn } from "./orders.ts";

/**
 * What a load call says besides, on an engine that unloads what nobody asks for: to keep the model. So that call is
 * made even when another client has loaded the model before.
 */
const KEEPING: Readonly<Record<string, object>> = { ollama: { keep_alive: -1 } };

/** Releases that do not have the call yet. */
const NO_SUCH_CALL: ReadonlySet<number> = new Set([404, 405]);

/**
 * Has an engine load a model, and waits until it is. Null: it is; else what went wrong, as a sentence.
 *
 * 1. Its list is looked at first: a dead engine loads nothing, and a second load of a loaded model can be a second
 *    copy of it (LM Studio).
 * 2. It has a call for loads. (a) Done with its answer. (b) Done when the list says so.
 * 3. It has none, or not yet, but loads what a request asks for: the smallest one is sent. Where the list can tell, it
 *    has the last word, since some engines answer by another model than the one that was asked for.
 */
export async function load(order: Order): Promise<Failure> {
  const { engine, model } = order;
  const { url } = engine.config;
  // 1
  const before = await look(order);
  const silent = silence(before);
  if (silent !== null) return `${url} did not answer: ${silent}`;
  const { adapter } = engine;
  if (adapter === null) return `${url} shows no list of models: ${engine.trouble ?? "not in time"}`;
  const listed = engine.listed(model);
  if (listed === null) return `${url} does not list ${model.engineName} any more`;
  const keeping = KEEPING[adapter.engine];
  if (stateIn(before, model) === "warm" && keeping === undefined) return null;
  // 2
  const loading = adapter.load(listed);
  if (loading === null) return loadByRequest(order, adapter, listed);
  const { failure, status } = await call(order, { ...loading, body: { ...loading.body, ...keeping } });
  if (failure === null) return loading.done === "answer" ? null : loadedByList(order);
  return adapter.loadsOnRequest && NO_SUCH_CALL.has(status) ? loadByRequest(order, adapter, listed) : failure;
}

/** (3) */
async function loadByRequest(order: Order, adapter: Adapter, listed: CatalogModel): Promise<Failure> {
  const { url } = order.engine.config;
  const request = adapter.loadsOnRequest ? smallestRequest(listed) : null;
  if (request === null) return `${adapter.engine} at ${url} has no call that loads ${listed.id}`;
  const { failure } = await call(order, request);
  if (failure !== null) return failure;
  return ended(
    order,
    await lookUntil(order, (seen): Ended | null => {
      const state = stateIn(seen, order.model);
      if (state === "loading") return null;
      if (state === null || state === "warm" || state === "unknown") return { failure: null };
      return { failure: `${url} answered, but its list does not have ${listed.id} as loaded` };
    }),
  );
}

/** (2b) */
async function loadedByList(order: Order): Promise<Failure> {
  const { engine, model } = order;
  const { url } = engine.config;
  let wasLoading = false;
  return ended(
    order,
    await lookUntil(order, (seen): Ended | null => {
      const state = stateIn(seen, model);
      if (state === "warm") return { failure: null };
      if (state === "failed") return { failure: `${url} could not load ${model.engineName}` };
      if (state === "unlisted") return { failure: `${url} does not list ${model.engineName} any more` };
      if (state === "cold" && wasLoading) return { failure: `${url} gave up loading ${model.engineName}` };
      wasLoading ||= state === "loading";
      // One that is too busy with the load to answer in time is still there.
      return seen?.kind === "refused" ? { failure: `${url} did not answer: ${seen.reason}` } : null;
    }),
  );
}

interface Ended {
  failure: Failure;
}

function ended({ engine, model, signal }: Order, answer: Ended | null): Failure {
  if (answer !== null) return answer.failure;
  if (signal.aborted) return STOPPED;
  const limit = formatDuration(model.timeoutMs);
  return `${engine.config.url} had not loaded ${model.engineName} within ${limit}`;
}
