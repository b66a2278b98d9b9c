import { LstImh, type Machine } from "@farmgate/gateway/policies";
import type { Engine } from "./engine.ts";
import { prefillPace } from "./pace.ts";
import { giveUp, pagesOf, pagesOn, promptMs, startHandover, startPrefill } from "./serving.ts";
import type { ClusterState, Serving } from "./state.ts";
import type { DispatchOrder } from "./types.ts";
import type { Waiting } from "./waiting-requests.ts";

/** Puts a request that has just come into its queue; what no empty instance could hold is refused. */
export function enqueue(state: ClusterState, order: DispatchOrder, request: number): void {
  const { trace, parameters, shape } = state;
  const app = trace.app[request] as number;
  const application = state.applications[app];
  if (application === undefined) throw new Error(`there is no application ${app}`);
  const { model, ttftMs } = application;
  const input = trace.input[request] as number;
  const pages = Math.floor(shape.deviceMemory / parameters.pageBytes);
  const weights = Math.ceil(model.weightBytes / (model.tensorParallel * parameters.pageBytes));
  if (pagesOf(state, model, input + (trace.output[request] as number)) > pages - weights) {
    giveUp(state, request, "refused");
    return;
  }
  const processing = promptMs(state, model, request);
  const deadline = state.now + ttftMs;
  const key = { "first-come": state.now, "least-slack": deadline - processing, "lst-imh": deadline }[order];
  state.waiting[app]?.add({ request, arrivedAt: state.now, processing, deadline, relaxed: 0, key });
}

/** Gives waiting requests of an application to instances that have nothing to read. */
export function dispatch(state: ClusterState, order: DispatchOrder, app: number): void {
  const waiting = state.waiting[app];
  const serving = state.serving[app];
  if (waiting === undefined || serving === undefined || waiting.size === 0) return;
  if (order === "lst-imh") {
    dispatchByDeadline(state, serving, app);
    return;
  }
  while (waiting.size > 0) {
    const { request } = waiting.list[0] as Waiting;
    const engine = readyEngine(state, serving.prefill, request);
    if (engine === null) return;
    waiting.take(0);
    startPrefill(state, engine, request);
  }
}

/** Requests with a first token go to the decode instance with the fewest; the first that finds no room holds up the others. */
export function dispatchHandovers(state: ClusterState, app: number): void {
  const queue = state.handovers[app];
  const serving = state.serving[app];
  if (queue === undefined || serving === undefined) return;
  while (queue.length > 0) {
    const request = queue[0] as number;
    const engine = decodeEngine(state, serving.decode.length > 0 ? serving.decode : serving.spare, request);
    if (engine === null) return;
    queue.shift();
    startHandover(state, request, engine);
  }
}

const rule = new LstImh();

/**
 * 1. Who can be on time nowhere is relaxed, or leaves.
 * 2. Alone with an idle instance there is nothing to plan.
 * 3. Instances are asked as machines: when the prompt under way is read, at their pace as it is. The plan is made anew
 *    until none begins. Who begins where there is no room for its state waits, and holds the instance up.
 */
function dispatchByDeadline(state: ClusterState, serving: Serving, app: number): void {
  const waiting = state.waiting[app];
  if (waiting === undefined) return;
  for (;;) {
    if (!serving.prefill.some((engine) => isReady(state, engine))) return;
    // 1
    relaxLate(state, app);
    const only = waiting.list[0];
    if (only === undefined) return;
    // 2
    if (waiting.size === 1) {
      const engine = readyEngine(state, serving.prefill, only.request);
      if (engine === null) return;
      waiting.take(0);
      startPrefill(state, engine, only.request);
      return;
    }
    // 3
    if (rule.assign(waiting.list, machinesOf(state, serving.prefill), state.now) === 0) return;
    const begun: { engine: Engine; waiting: Waiting }[] = [];
    for (let at = 0; at < serving.prefill.length; at++) {
      const engine = serving.prefill[at] as Engine;
      const chosen = waiting.list[rule.begins[at] as number];
      if (chosen === undefined || !isReady(state, engine) || !hasRoom(state, engine, chosen.request)) continue;
      begun.push({ engine, waiting: chosen });
    }
    if (begun.length === 0) return;
    for (const { engine, waiting: chosen } of begun) {
      waiting.take(waiting.list.indexOf(chosen));
      startPrefill(state, engine, chosen.request);
    }
  }
}

/** Who would be late on an idle instance by now gets a longer limit, at most so often; then it leaves. */
export function relaxLate(state: ClusterState, app: number): void {
  const waiting = state.waiting[app];
  const application = state.applications[app];
  if (waiting === undefined || application === undefined) return;
  const { parameters, now, counts } = state;
  for (const late of waiting.takeWhere(({ deadline, processing }) => now + processing > deadline)) {
    while (late.relaxed < parameters.relaxTimes && now + late.processing > late.deadline) {
      late.relaxed += 1;
      late.deadline = late.arrivedAt + application.ttftMs * parameters.relaxBy ** late.relaxed;
      counts.relaxedDeadlines += 1;
    }
    late.key = late.deadline;
    if (now + late.processing > late.deadline) giveUp(state, late.request, "timed-out");
    else waiting.add(late);
  }
}

function machinesOf(state: ClusterState, engines: readonly Engine[]): Machine[] {
  return engines.map((engine) => {
    const pace = prefillPace(state, engine);
    if (isReady(state, engine)) return { availableAt: state.now, overhead: 0, slowness: 1 / pace };
    const left = engine.prefillLeft / engine.prefillPace - (state.now - engine.settledAt);
    // Of a full batch it is not known when it takes the next.
    const availableAt = engine.prefilling < 0 ? Number.POSITIVE_INFINITY : state.now + Math.max(1e-3, left);
    return { availableAt, overhead: 0, slowness: 1 / pace };
  });
}

/** The one with the smallest batch, of equal ones the one that began to serve first; null: none is ready and has room. */
function readyEngine(state: ClusterState, engines: readonly Engine[], request: number): Engine | null {
  let best: Engine | null = null;
  for (const engine of engines) {
    if (best !== null && engine.batch.size >= best.batch.size) continue;
    if (isReady(state, engine) && hasRoom(state, engine, request)) best = engine;
  }
  return best;
}

function decodeEngine(state: ClusterState, engines: readonly Engine[], request: number): Engine | null {
  let best: Engine | null = null;
  for (const engine of engines) {
    const load = engine.batch.size + engine.incoming;
    if (load >= state.parameters.maxBatch || (best !== null && load >= best.batch.size + best.incoming)) continue;
    if (hasRoom(state, engine, request)) best = engine;
  }
  return best;
}

function isReady({ parameters }: ClusterState, { prefilling, batch, incoming }: Engine): boolean {
  return prefilling < 0 && batch.size + incoming < parameters.maxBatch;
}

function hasRoom(state: ClusterState, engine: Engine, request: number): boolean {
  return engine.roomPages >= pagesOn(state, engine, request);
}
