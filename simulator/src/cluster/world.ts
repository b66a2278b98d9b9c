import type { Trace } from "../trace/types.ts";
import { checkEnd, checkTrace } from "./check.ts";
import type { ClusterCollector, ClusterCounts } from "./collector.ts";
import { dispatch, dispatchHandovers, enqueue, relaxLate } from "./dispatch.ts";
import type { Engine } from "./engine.ts";
import { apply, leave, onHalfLoaded, onLoaded } from "./lifecycle.ts";
import { beginLoads } from "./loading.ts";
import { newState } from "./new-state.ts";
import { ENGINE_PARAMETERS, type EngineParameters } from "./parameters.ts";
import { PHASE } from "./request-book.ts";
import { giveUp, onDecoded, onHanded, onPrefilled } from "./serving.ts";
import type { ClusterEvent, ClusterState } from "./state.ts";
import type { Application, ClusterAction, ClusterPolicy, ClusterShape, ClusterView } from "./types.ts";
import { viewOf } from "./view.ts";

export interface ClusterRun {
  trace: Trace;
  /** By the places that the trace names. */
  applications: readonly Application[];
  shape: ClusterShape;
  policy: ClusterPolicy;
  collector: ClusterCollector;
  /** Of the copies in host memory at the start, the one thing left to chance. */
  seed: number;
  parameters?: EngineParameters;
  /** Called with the requests that ended so far, after each sweep. */
  onProgress?: (ended: number, total: number, now: number) => void;
}

export interface ClusterResult {
  /** Virtual milliseconds when the last request ended. */
  endedAt: number;
  counts: ClusterCounts;
  /** Of the policy's actions that could not be, by reason. */
  refusals: Readonly<Record<string, number>>;
}

/** Replays the trace in open loop under the policy until its last request ended. Throws when its books do not balance. */
export function runCluster(run: ClusterRun): ClusterResult {
  const { trace, applications, shape, policy, collector, seed, parameters = ENGINE_PARAMETERS, onProgress } = run;
  checkTrace(trace, applications);
  const state = newState(trace, applications, shape, parameters, collector, seed);
  const view = viewOf(state);
  collector.devices(0, 0);
  perform(state, policy, policy.start(view), true);
  policy.loops.forEach(({ everyMs }, index) => state.events.push(everyMs, { kind: "loop", index }));
  state.events.push(parameters.sweepMs, { kind: "sweep" });
  if (trace.at.length > 0) state.events.push(trace.at[0] as number, { kind: "arrival" });
  while (state.requests.ended < trace.at.length) {
    const next = state.events.pop();
    if (next === undefined) throw new Error("time stands still before the last request");
    if (!(next.at >= state.now)) throw new Error(`time goes from ${state.now} to ${next.at}`);
    state.now = next.at;
    state.counts.events += 1;
    handle(state, policy, view, next.event);
    if (next.event.kind === "sweep") onProgress?.(state.requests.ended, trace.at.length, state.now);
  }
  collector.devices(state.now, state.occupied);
  checkEnd(state);
  for (const pool of state.pools) {
    state.counts.mappedPages += pool.mapped;
    state.counts.unmappedPages += pool.unmapped;
    state.counts.remappedPages += pool.remapped;
    state.counts.mostGapPages = Math.max(state.counts.mostGapPages, pool.mostGap);
  }
  return { endedAt: state.now, counts: state.counts, refusals: Object.fromEntries(state.refusals) };
}

function handle(state: ClusterState, policy: ClusterPolicy, view: ClusterView, event: ClusterEvent): void {
  switch (event.kind) {
    case "arrival":
      return arrive(state, policy, view);
    case "prefilled":
      if (event.turn !== event.engine.prefillTurn || event.engine.prefilling < 0) return;
      onPrefilled(state, event.engine);
      return afterwards(state, policy, event.engine);
    case "decoded":
      if (event.turn !== event.engine.decodeTurn) return;
      onDecoded(state, event.engine);
      return afterwards(state, policy, event.engine);
    case "handed":
      onHanded(state, event.from, event.to, event.request);
      return afterwards(state, policy, event.from);
    case "half-loaded":
      onHalfLoaded(state, event.instance);
      return serveAll(state, policy, event.instance.app);
    case "loaded":
      onLoaded(state, event.instance);
      return serveAll(state, policy, event.instance.app);
    case "loop": {
      const loop = policy.loops[event.index];
      if (loop === undefined) return;
      perform(state, policy, loop.run(view), false);
      state.events.push(state.now + loop.everyMs, event);
      return;
    }
    case "sweep":
      return sweep(state, policy, event);
  }
}

function arrive(state: ClusterState, policy: ClusterPolicy, view: ClusterView): void {
  const { trace, requests } = state;
  const request = state.nextArrival;
  const app = trace.app[request] as number;
  state.nextArrival += 1;
  requests.live += 1;
  requests.phase[request] = PHASE.waiting;
  state.recent[app]?.arrived(state.now, trace.input[request] as number);
  if (state.nextArrival < trace.at.length) {
    state.events.push(trace.at[state.nextArrival] as number, { kind: "arrival" });
  }
  enqueue(state, policy.dispatch, request);
  dispatch(state, policy.dispatch, app);
  if (policy.onCold !== undefined && state.ofApp[app]?.every(({ state }) => state === "draining") === true) {
    perform(state, policy, policy.onCold(app, view), false);
  }
}

/** An engine has room or time again: its own application, and those that share its devices. */
function afterwards(state: ClusterState, policy: ClusterPolicy, engine: Engine): void {
  if (state.wantRoom.size > 0) beginLoads(state);
  serveAll(state, policy, engine.app);
  for (const neighbour of engine.neighbours) serveAll(state, policy, neighbour.app);
  const instance = state.byId.get(engine.owner.id);
  if (instance?.state === "draining") leave(state, instance);
}

function serveAll(state: ClusterState, policy: ClusterPolicy, app: number): void {
  dispatchHandovers(state, app);
  dispatch(state, policy.dispatch, app);
}

function perform(
  state: ClusterState,
  policy: ClusterPolicy,
  actions: readonly ClusterAction[],
  isInitial: boolean,
): void {
  for (const action of actions) apply(state, action, isInitial);
  // What left made room for those beside it.
  if (actions.length > 0) for (let app = 0; app < state.applications.length; app++) serveAll(state, policy, app);
}

/** Who waited too long for its first token, or for a place to go on, leaves. */
function sweep(state: ClusterState, policy: ClusterPolicy, event: ClusterEvent): void {
  const { now, parameters, requests } = state;
  for (let app = 0; app < state.applications.length; app++) {
    if (policy.dispatch === "lst-imh") relaxLate(state, app);
    const gone = state.waiting[app]?.takeWhere(({ arrivedAt }) => now - arrivedAt > parameters.timeOutMs) ?? [];
    for (const { request } of gone) giveUp(state, request, "timed-out");
    const handovers = state.handovers[app] ?? [];
    while (
      handovers.length > 0 &&
      now - (requests.firstTokenAt[handovers[0] as number] as number) > parameters.timeOutMs
    ) {
      const request = handovers.shift() as number;
      const holder = state.holders[request];
      giveUp(state, request, "timed-out");
      if (holder !== null && holder !== undefined) afterwards(state, policy, holder);
    }
  }
  state.events.push(now + parameters.sweepMs, event);
}
