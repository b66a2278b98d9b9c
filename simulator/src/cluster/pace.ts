import type { Engine } from "./engine.ts";
import type { ClusterState } from "./state.ts";
import { stepMs } from "./timing.ts";

/** Brings what an engine did since its last change up to now. To be called before anything of it changes. */
export function settle(state: ClusterState, engine: Engine): void {
  const passed = state.now - engine.settledAt;
  if (passed <= 0) return;
  const kept = Math.exp(-passed / state.parameters.measureMs);
  const prompt = engine.prefilling < 0 ? 0 : engine.prefillPace;
  engine.compute = kept * engine.compute + (1 - kept) * Math.min(1, prompt + engine.stepCompute);
  engine.bandwidth = kept * engine.bandwidth + (1 - kept) * engine.stepBandwidth;
  if (engine.prefilling >= 0) engine.prefillLeft -= passed * engine.prefillPace;
  if (engine.batch.size > 0) {
    // What the steps take grows evenly: passed = stepMs x steps + growthMs x steps^2 / 2.
    const root = Math.sqrt(engine.stepMs * engine.stepMs + 2 * engine.growthMs * passed);
    const steps = (2 * passed) / (engine.stepMs + root);
    engine.steps += steps;
    engine.context += steps * engine.batch.size;
  }
  engine.settledAt = state.now;
}

/** After a settled engine's prompt or batch changed: its own next events, and those of engines that share a device with it. */
export function replan(state: ClusterState, engine: Engine): void {
  const prefills = engine.prefilling >= 0;
  const decodes = engine.batch.size > 0;
  if (prefills !== engine.countedPrefill || decodes !== engine.countedDecode) {
    const prefillStep = Number(prefills) - Number(engine.countedPrefill);
    const decodeStep = Number(decodes) - Number(engine.countedDecode);
    for (const device of engine.devices) {
      state.prefillsOn[device] = (state.prefillsOn[device] as number) + prefillStep;
      state.decodesOn[device] = (state.decodesOn[device] as number) + decodeStep;
    }
    engine.countedPrefill = prefills;
    engine.countedDecode = decodes;
    for (const neighbour of engine.neighbours) {
      settle(state, neighbour);
      plan(state, neighbour);
    }
  }
  plan(state, engine);
}

/** The pace of a prompt on the engine as it stands: the share that others on its busiest device leave to it. */
export function prefillPace(state: ClusterState, engine: Engine): number {
  const beside = engine.batch.size > 0 ? state.parameters.prefillShareBesideDecode : 1;
  if (engine.neighbours.length === 0) return engine.pace * beside;
  const own = engine.countedPrefill ? 1 : 0;
  const ownDecode = engine.countedDecode ? 1 : 0;
  return engine.pace * beside * shared(state, engine, state.prefillsOn, own, state.decodesOn, ownDecode);
}

function decodePace(state: ClusterState, engine: Engine): number {
  const beside = engine.prefilling >= 0 ? state.parameters.decodeShareBesidePrefill : 1;
  if (engine.neighbours.length === 0) return engine.pace * beside;
  const own = engine.countedDecode ? 1 : 0;
  const ownPrefill = engine.countedPrefill ? 1 : 0;
  return engine.pace * beside * shared(state, engine, state.decodesOn, own, state.prefillsOn, ownPrefill);
}

/** Those at the same work share it evenly; those at the other work are a little in the way. */
function shared(
  state: ClusterState,
  engine: Engine,
  same: Uint8Array,
  ownSame: number,
  other: Uint8Array,
  ownOther: number,
): number {
  let least = 1;
  for (const device of engine.devices) {
    const sharers = 1 + (same[device] as number) - ownSame;
    const beside = (other[device] as number) > ownOther ? state.parameters.paceBesideOther : 1;
    least = Math.min(least, beside / sharers);
  }
  return least;
}

function plan(state: ClusterState, engine: Engine): void {
  if (engine.prefilling >= 0) planPrefill(state, engine);
  planDecode(state, engine);
}

function planPrefill(state: ClusterState, engine: Engine): void {
  engine.prefillPace = prefillPace(state, engine);
  engine.prefillTurn += 1;
  const at = state.now + Math.max(0, engine.prefillLeft) / engine.prefillPace;
  state.events.push(at, { kind: "prefilled", engine, turn: engine.prefillTurn });
}

/** Each step is longer than the one before, since each request has a token more. */
function planDecode(state: ClusterState, engine: Engine): void {
  const { batch, model } = engine;
  engine.decodeTurn += 1;
  if (batch.size === 0) {
    engine.context = 0;
    engine.stepCompute = 0;
    engine.stepBandwidth = 0;
    return;
  }
  const left = Math.max(0, batch.nextStep - engine.steps);
  const undisturbed = stepMs(model, state.shape, state.parameters, batch.size, engine.context);
  const pace = decodePace(state, engine);
  const devices = model.tensorParallel;
  engine.stepMs = undisturbed / pace;
  engine.growthMs = (1000 * model.kvBytesPerToken * batch.size) / (devices * state.shape.deviceBandwidth * pace);
  const computing = (2000 * model.activeParameters * batch.size) / (devices * state.shape.deviceCompute);
  engine.stepCompute = computing / engine.stepMs;
  engine.stepBandwidth = (undisturbed - state.parameters.stepConstantMs - computing) / engine.stepMs;
  const took = left * (engine.stepMs + (engine.growthMs * left) / 2);
  state.events.push(state.now + took, { kind: "decoded", engine, turn: engine.decodeTurn });
}
