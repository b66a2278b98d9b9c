import { Engine } from "./engine.ts";
import { Instance } from "./instance.ts";
import { beginLoads, hostsOf, weightPages } from "./loading.ts";
import { replan, settle } from "./pace.ts";
import type { ClusterState } from "./state.ts";
import type { ClusterAction, Role } from "./types.ts";

/** Models whose requests a device takes at the same time. */
const MODELS_PER_DEVICE = 2;

/** Does what a policy asks for; what cannot be is left and told of. Before the first request nothing takes time. */
export function apply(state: ClusterState, action: ClusterAction, isInitial: boolean): void {
  if (action.kind === "activate") {
    const { app, role, devices, live = false } = action;
    activate(state, app, role, devices, live, null, isInitial);
    return;
  }
  const instance = state.byId.get(action.instance);
  if (instance === undefined) return refuse(state, "there is no such instance");
  if (instance.state === "draining") return refuse(state, "the instance is let go already");
  if (action.kind === "release") return letGo(state, instance);
  if (instance.state !== "active") return refuse(state, "the instance is not ready to move");
  if (isReplaced(state, instance)) return refuse(state, "the instance moves already");
  activate(state, instance.app, instance.role, action.to, false, instance, isInitial);
}

function activate(
  state: ClusterState,
  app: number,
  role: Role,
  devices: readonly number[],
  isLive: boolean,
  replaces: Instance | null,
  isInitial: boolean,
): void {
  const problem = whyNot(state, app, devices);
  if (problem !== null) return refuse(state, problem);
  const pages = weightPages(state, app);
  const id = state.nextId;
  const reserved: number[] = [];
  for (const device of devices) {
    if (state.pools[device]?.reserveWeights(id, pages) === true) {
      reserved.push(device);
      continue;
    }
    for (const taken of reserved) state.pools[taken]?.freeWeights(id, state.now);
    return refuse(state, "the weights do not fit beside those that are there");
  }
  state.nextId += 1;
  state.counts.activations += 1;
  const instance = new Instance(id, app, role, [...devices], isLive, replaces, state.now);
  addEngines(state, instance);
  state.instances.push(instance);
  state.byId.set(id, instance);
  state.ofApp[app]?.push(instance);
  for (const device of devices) occupy(state, device, instance);
  state.collector.devices(state.now, state.occupied);
  if (isInitial) {
    for (const { pools } of instance.engines) for (const pool of pools) pool.mapWeights(pages, state.now);
    onLoaded(state, instance);
    return;
  }
  state.wantRoom.add(instance);
  beginLoads(state);
}

/** Null: it can be. */
function whyNot(state: ClusterState, app: number, devices: readonly number[]): string | null {
  const application = state.applications[app];
  if (application === undefined) return "there is no such application";
  const { tensorParallel, dataParallel } = application.model;
  if (devices.length !== tensorParallel * dataParallel) return "the model spans another number of devices";
  if (new Set(devices).size !== devices.length) return "a device is named twice";
  for (let place = 0; place < devices.length; place++) {
    const device = devices[place] as number;
    const holders = state.onDevice[device];
    if (holders === undefined) return "there is no such device";
    if (holders.filter((holder) => holder.state !== "draining").length >= MODELS_PER_DEVICE)
      return "the device is full";
    if (holders.some((holder) => holder.app === app)) return "the device has the application already";
    // The links between devices that share one model's layers do not leave a host.
    const first = devices[place - (place % tensorParallel)] as number;
    if (hostsOf(state, [first, device]).length > 1) return "a replica does not span hosts";
  }
  return null;
}

export function onHalfLoaded(state: ClusterState, instance: Instance): void {
  if (!instance.isGone && instance.state === "starting") serve(state, instance, state.parameters.livePace);
}

export function onLoaded(state: ClusterState, instance: Instance): void {
  if (instance.isGone) return;
  const { load, replaces } = instance;
  if (load !== null) state.collector.loaded(load.source, load.bytes, state.now - load.beganAt);
  for (const host of hostsOf(state, instance.devices)) {
    state.hosts[host]?.keep(instance.app, state.applications[instance.app]?.model.weightBytes ?? 0);
  }
  if (instance.state === "starting") instance.state = "active";
  serve(state, instance, 1);
  if (replaces === null || replaces.isGone) return;
  state.collector.moved();
  letGo(state, replaces);
}

function serve(state: ClusterState, instance: Instance, pace: number): void {
  const serving = state.serving[instance.app];
  for (const engine of instance.engines) {
    settle(state, engine);
    const isFirst = engine.pace === 0;
    engine.pace = pace;
    replan(state, engine);
    if (!isFirst || serving === undefined) continue;
    if (engine.role !== "decode") serving.prefill.push(engine);
    if (engine.role === "decode") serving.decode.push(engine);
    if (engine.role === "both") serving.spare.push(engine);
  }
}

/** No new requests for it; it leaves with its last one. One that was starting for another leaves that one as it is. */
function letGo(state: ClusterState, instance: Instance): void {
  if (instance.state === "draining") return;
  instance.state = "draining";
  const serving = state.serving[instance.app];
  if (serving !== undefined) {
    const stays = (engine: Engine) => engine.owner !== instance;
    serving.prefill = serving.prefill.filter(stays);
    serving.decode = serving.decode.filter(stays);
    serving.spare = serving.spare.filter(stays);
  }
  leave(state, instance);
}

/** Takes an instance that was let go off its devices once it has nothing to do. */
export function leave(state: ClusterState, instance: Instance): void {
  if (instance.state !== "draining" || instance.running > 0 || instance.isGone) return;
  instance.isGone = true;
  state.wantRoom.delete(instance);
  state.byId.delete(instance.id);
  state.instances.splice(state.instances.indexOf(instance), 1);
  const siblings = state.ofApp[instance.app];
  siblings?.splice(siblings.indexOf(instance), 1);
  for (const device of instance.devices) {
    state.pools[device]?.freeWeights(instance.id, state.now);
    const holders = state.onDevice[device];
    holders?.splice(holders.indexOf(instance), 1);
    if (holders?.length === 0) state.occupied -= 1;
  }
  for (const engine of instance.engines) {
    for (const neighbour of engine.neighbours) {
      neighbour.neighbours = neighbour.neighbours.filter((other) => other !== engine);
    }
  }
  state.collector.evicted();
  state.collector.devices(state.now, state.occupied);
  beginLoads(state);
}

function addEngines(state: ClusterState, instance: Instance): void {
  const { app, role, devices } = instance;
  const application = state.applications[app];
  if (application === undefined) return;
  const { model } = application;
  for (let first = 0; first < devices.length; first += model.tensorParallel) {
    const own = devices.slice(first, first + model.tensorParallel);
    const pools = own.flatMap((device) => state.pools[device] ?? []);
    const engine = new Engine(instance, app, role, model, own, pools);
    engine.settledAt = state.now;
    const others = own.flatMap((device) => (state.onDevice[device] ?? []).flatMap((holder) => holder.engines));
    engine.neighbours = [...new Set(others)].filter((other) => other.devices.some((device) => own.includes(device)));
    for (const neighbour of engine.neighbours) neighbour.neighbours.push(engine);
    instance.engines.push(engine);
  }
}

function occupy(state: ClusterState, device: number, instance: Instance): void {
  const holders = state.onDevice[device];
  if (holders?.length === 0) state.occupied += 1;
  holders?.push(instance);
}

function isReplaced(state: ClusterState, instance: Instance): boolean {
  return (state.ofApp[instance.app] ?? []).some((other) => other.replaces === instance && other.state === "starting");
}

function refuse(state: ClusterState, why: string): void {
  state.counts.refusedActions += 1;
  state.refusals.set(why, (state.refusals.get(why) ?? 0) + 1);
}
