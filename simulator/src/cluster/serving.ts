import type { Outcome } from "./collector.ts";
import type { Engine } from "./engine.ts";
import { replan, settle } from "./pace.ts";
import { PHASE } from "./request-book.ts";
import type { ClusterState } from "./state.ts";
import { prefillMs } from "./timing.ts";
import type { ModelProfile } from "./types.ts";

export function pagesOf(state: ClusterState, model: ModelProfile, tokens: number): number {
  const { kvBytesPerToken, tensorParallel } = model;
  return Math.ceil((tokens * kvBytesPerToken) / (tensorParallel * state.parameters.pageBytes));
}

/** Of a request on an engine, for as long as it is there. */
export function pagesOn(state: ClusterState, engine: Engine, request: number): number {
  return pagesOf(state, engine.model, tokensOn(state, engine, request));
}

/** All its tokens where it is decoded, its prompt elsewhere. They are taken at once, not as they grow. */
function tokensOn({ trace }: ClusterState, engine: Engine, request: number): number {
  const input = trace.input[request] as number;
  return engine.role === "prefill" ? input : input + (trace.output[request] as number);
}

/** Returns the milliseconds that are waited for its pages. */
function takePages(state: ClusterState, engine: Engine, request: number): number {
  const { counts, now, parameters } = state;
  const pages = pagesOn(state, engine, request);
  const { tensorParallel, kvBytesPerToken } = engine.model;
  const wait = engine.takeState(pages, now);
  counts.mapWaitMs += wait;
  const taken = pages * parameters.pageBytes * tensorParallel;
  counts.emptyTailBytes += taken - tokensOn(state, engine, request) * kvBytesPerToken;
  return wait;
}

/**
 * Milliseconds for a request's prompt on an undisturbed replica. Where the trace tells of prefixes that came before, each
 * instance has them all: what a farm-wide prefix cache would do at best.
 */
export function promptMs(state: ClusterState, model: ModelProfile, request: number): number {
  const { trace, shape, parameters } = state;
  return prefillMs(model, shape, parameters, trace.input[request] as number, trace.prefix?.[request]);
}

/** A request that waited goes to an engine that is free and has room for it. */
export function startPrefill(state: ClusterState, engine: Engine, request: number): void {
  const { requests, now } = state;
  settle(state, engine);
  requests.phase[request] = PHASE.prefill;
  requests.startedAt[request] = now;
  state.holders[request] = engine;
  const wait = takePages(state, engine, request);
  engine.prefilling = request;
  engine.prefillLeft = wait + promptMs(state, engine.model, request);
  engine.count(1, now);
  replan(state, engine);
}

export function onPrefilled(state: ClusterState, engine: Engine): void {
  const request = engine.prefilling;
  const { requests, trace } = state;
  settle(state, engine);
  engine.prefilling = -1;
  requests.firstTokenAt[request] = state.now;
  if ((trace.output[request] as number) <= 1) {
    release(state, engine, request);
    end(state, request, "done");
  } else if (engine.role === "prefill") {
    requests.phase[request] = PHASE.handover;
    engine.held += 1;
    (state.handovers[engine.app] as number[]).push(request);
  } else {
    join(state, engine, request);
  }
  replan(state, engine);
}

/** State goes over the links of the smaller side's devices, all at once. */
export function startHandover(state: ClusterState, request: number, to: Engine): void {
  const from = state.holders[request] as Engine;
  const wait = takePages(state, to, request);
  const bytes = (state.trace.input[request] as number) * to.model.kvBytesPerToken;
  const links = Math.min(from.devices.length, to.devices.length);
  to.incoming += 1;
  to.count(1, state.now);
  state.counts.handovers += 1;
  state.counts.handoverBytes += bytes;
  const took = Math.max(wait, (1000 * bytes) / (links * state.shape.peerRate));
  state.events.push(state.now + took, { kind: "handed", from, to, request });
}

export function onHanded(state: ClusterState, from: Engine, to: Engine, request: number): void {
  from.held -= 1;
  release(state, from, request);
  to.incoming -= 1;
  state.holders[request] = to;
  settle(state, to);
  join(state, to, request);
  replan(state, to);
}

export function onDecoded(state: ClusterState, engine: Engine): void {
  settle(state, engine);
  const { batch } = engine;
  engine.steps = Math.max(engine.steps, batch.nextStep);
  while (batch.nextStep <= engine.steps + 1e-6) {
    const request = batch.pop();
    engine.context -= (state.trace.input[request] as number) + (state.trace.output[request] as number);
    release(state, engine, request);
    end(state, request, "done");
  }
  replan(state, engine);
}

/** For one that waits, at the start or for a decode instance. */
export function giveUp(state: ClusterState, request: number, outcome: Outcome): void {
  const holder = state.holders[request];
  if (holder !== null && holder !== undefined) {
    holder.held -= 1;
    release(state, holder, request);
  }
  end(state, request, outcome);
}

function join(state: ClusterState, engine: Engine, request: number): void {
  state.requests.phase[request] = PHASE.decode;
  engine.batch.push(engine.steps + (state.trace.output[request] as number) - 1, request);
  engine.context += (state.trace.input[request] as number) + 1;
}

function release(state: ClusterState, engine: Engine, request: number): void {
  state.holders[request] = null;
  engine.freeState(pagesOn(state, engine, request), state.now);
  engine.count(-1, state.now);
}

function end(state: ClusterState, request: number, outcome: Outcome): void {
  const { requests, trace, now } = state;
  if (requests.phase[request] === PHASE.ended) throw new Error(`request ${request} ends twice`);
  requests.phase[request] = PHASE.ended;
  requests.live -= 1;
  requests.ended += 1;
  const app = trace.app[request] as number;
  const arrivedAt = trace.at[request] as number;
  const output = trace.output[request] as number;
  const limits = state.applications[app];
  const isDone = outcome === "done";
  const known = requests.firstTokenAt[request] as number;
  const firstTokenAt = isDone ? known : now;
  const startedAt = requests.startedAt[request] as number;
  const hasBegun = !Number.isNaN(known);
  const firstInTime = limits !== undefined && known - arrivedAt <= limits.ttftMs;
  const restInTime =
    isDone && limits !== undefined && (output <= 1 || (now - firstTokenAt) / (output - 1) <= limits.tpotMs);
  state.recent[app]?.ended(now, { output: isDone ? output : null, hasBegun, firstInTime, restInTime });
  const waitedMs = (Number.isNaN(startedAt) ? now : startedAt) - arrivedAt;
  state.collector.ended(app, arrivedAt, firstTokenAt, now, output, outcome, waitedMs);
}
