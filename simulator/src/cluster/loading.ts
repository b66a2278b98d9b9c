import type { LoadSource } from "./host-store.ts";
import type { Instance } from "./instance.ts";
import type { ClusterState } from "./state.ts";

export interface LoadPlan {
  source: LoadSource;
  /** Milliseconds from now, queues included. */
  ms: number;
  /** The instance whose links it takes; null: another source. */
  from: Instance | null;
}

/** Pages of a replica's weights on each of its devices. */
export function weightPages(state: ClusterState, app: number): number {
  const { weightBytes, tensorParallel } = modelOf(state, app);
  return Math.ceil(weightBytes / (tensorParallel * state.parameters.pageBytes));
}

/**
 * The cheapest way up on these devices. All devices of a replica load at the same time; replicas of one instance do so
 * too, but for a peer, whose links serve one replica after the other, and the disk of a host, which reads weights once.
 *
 * 1. From an instance of the application that is ready: the one whose links are free first. Live loads are passed on
 *    from one to the next (a multicast chain), so they never queue there.
 * 2. From host memory, when each host has a copy.
 * 3. From another host's memory.
 * 4. From disk, one load after the other.
 */
export function cheapestLoad(state: ClusterState, app: number, devices: readonly number[], isLive: boolean): LoadPlan {
  const { now, shape, parameters } = state;
  const { weightBytes, tensorParallel, dataParallel } = modelOf(state, app);
  const share = weightBytes / tensorParallel;
  const hosts = hostsOf(state, devices);
  // 1
  let from: Instance | null = null;
  for (const instance of state.ofApp[app] ?? []) {
    if (instance.state === "starting") continue;
    if (from === null || instance.linkFreeAt < from.linkFreeAt) from = instance;
  }
  let plan: LoadPlan | null = null;
  if (from !== null) {
    const wait = isLive ? 0 : Math.max(0, from.linkFreeAt - now);
    const ms = wait + parameters.peerConstantMs + (1000 * share * dataParallel) / shape.peerRate;
    plan = { source: "fork", ms, from };
  }
  // 2
  if (hosts.every((host) => state.hosts[host]?.has(app) === true)) {
    const ms = parameters.hostConstantMs + (1000 * share) / shape.hostRate;
    if (plan === null || ms < plan.ms) plan = { source: "host", ms, from: null };
  }
  if (plan !== null) return plan;
  // 3
  if (state.hosts.some((host) => host.has(app))) {
    const ms = parameters.hostConstantMs + (1000 * share) / shape.remoteRate;
    return { source: "peer", ms, from: null };
  }
  // 4
  const queued = Math.max(...hosts.map((host) => state.hosts[host]?.diskFreeAt ?? 0), now) - now;
  const ms = queued + parameters.diskConstantMs + (1000 * weightBytes) / shape.diskRate;
  return { source: "disk", ms, from: null };
}

/** Starts the loads whose place is free of the requests of others by now. */
export function beginLoads(state: ClusterState): void {
  for (const instance of state.wantRoom) {
    if (instance.engines.some((engine) => engine.roomPages < 0)) continue;
    state.wantRoom.delete(instance);
    beginLoad(state, instance);
  }
}

function beginLoad(state: ClusterState, instance: Instance): void {
  const { now, shape, parameters } = state;
  const { app, devices } = instance;
  const { weightBytes, tensorParallel, dataParallel } = modelOf(state, app);
  const pages = weightPages(state, app);
  const plan = cheapestLoad(state, app, devices, instance.isLive);
  let mapping = 0;
  for (const { pools } of instance.engines) {
    for (const pool of pools) mapping = Math.max(mapping, pool.mapWeights(pages, now));
  }
  const constant = {
    fork: parameters.peerConstantMs,
    peer: parameters.hostConstantMs,
    host: parameters.hostConstantMs,
    disk: parameters.diskConstantMs,
  };
  const ms = Math.max(plan.ms, mapping + constant[plan.source]);
  if (plan.from !== null && !instance.isLive) {
    const copying = (1000 * weightBytes * dataParallel) / (tensorParallel * shape.peerRate);
    plan.from.linkFreeAt = Math.max(now, plan.from.linkFreeAt) + copying;
  }
  if (plan.source === "disk") {
    for (const host of hostsOf(state, devices)) {
      const store = state.hosts[host];
      if (store !== undefined)
        store.diskFreeAt = Math.max(now, store.diskFreeAt) + (1000 * weightBytes) / shape.diskRate;
    }
  }
  instance.load = { source: plan.source, bytes: weightBytes * dataParallel, beganAt: now };
  if (instance.isLive) state.events.push(now + ms / 2, { kind: "half-loaded", instance });
  state.events.push(now + ms, { kind: "loaded", instance });
}

export function hostsOf(state: ClusterState, devices: readonly number[]): number[] {
  return [...new Set(devices.map((device) => Math.floor(device / state.shape.devicesPerHost)))];
}

function modelOf(state: ClusterState, app: number) {
  const application = state.applications[app];
  if (application === undefined) throw new Error(`there is no application ${app}`);
  return application.model;
}
