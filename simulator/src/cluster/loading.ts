import { cheapestWayUp, throughMs } from "@farmgate/shared";
import type { Instance } from "./instance.ts";
import type { ClusterState } from "./state.ts";
import type { LoadWay } from "./load-ways.ts";

/** Pages of a replica's weights on each of its devices. */
export function weightPages(state: ClusterState, app: number): number {
  const { weightBytes, tensorParallel } = modelOf(state, app);
  return Math.ceil(weightBytes / (tensorParallel * state.parameters.pageBytes));
}

/**
 * The cheapest way up on these devices, until it is asked for again. All devices of a replica load at the same time;
 * replicas of one instance do so too, but for a peer, whose links serve one replica after the other, and the disk of a
 * host, which reads weights once.
 *
 * 1. From an instance of the application that is ready: the one whose links are free first. Live loads are passed on
 *    from one to the next (a multicast chain), so they never queue there.
 * 2. From host memory, when each host has a copy.
 * 3. From another host's memory, when neither of these is open.
 * 4. From disk, likewise, one load after the other.
 */
export function cheapestLoad(state: ClusterState, app: number, devices: readonly number[], isLive: boolean): LoadWay {
  const { now, ways } = state;
  const { fork, host, peer, disk } = ways;
  const { weightBytes, tensorParallel, dataParallel } = modelOf(state, app);
  const share = weightBytes / tensorParallel;
  const hosts = hostsOf(state, devices);
  // 1
  fork.from = null;
  for (const instance of state.ofApp[app] ?? []) {
    if (instance.state === "starting") continue;
    if (fork.from === null || instance.linkFreeAt < fork.from.linkFreeAt) fork.from = instance;
  }
  fork.bytes = share * dataParallel;
  fork.waitMs = Number.POSITIVE_INFINITY;
  if (fork.from !== null) fork.waitMs = isLive ? 0 : Math.max(0, fork.from.linkFreeAt - now);
  // 2
  host.bytes = share;
  host.waitMs = openIf(hosts.every((one) => state.hosts[one]?.has(app) === true));
  const near = cheapestWayUp(ways.near);
  if (near !== null) return near;
  // 3
  peer.bytes = share;
  peer.waitMs = openIf(state.hosts.some((one) => one.has(app)));
  // 4
  disk.bytes = weightBytes;
  disk.waitMs = Math.max(...hosts.map((one) => state.hosts[one]?.diskFreeAt ?? 0), now) - now;
  return cheapestWayUp(ways.far) ?? disk;
}

function openIf(isOpen: boolean): number {
  return isOpen ? 0 : Number.POSITIVE_INFINITY;
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
  const { now, shape } = state;
  const { app, devices } = instance;
  const { weightBytes, tensorParallel, dataParallel } = modelOf(state, app);
  const pages = weightPages(state, app);
  const way = cheapestLoad(state, app, devices, instance.isLive);
  let mapping = 0;
  for (const { pools } of instance.engines) {
    for (const pool of pools) mapping = Math.max(mapping, pool.mapWeights(pages, now));
  }
  const ms = Math.max(throughMs(way), mapping + way.constantMs);
  if (way.from !== null && !instance.isLive) {
    const copying = (1000 * weightBytes * dataParallel) / (tensorParallel * shape.peerRate);
    way.from.linkFreeAt = Math.max(now, way.from.linkFreeAt) + copying;
  }
  if (way.source === "disk") {
    for (const host of hostsOf(state, devices)) {
      const store = state.hosts[host];
      if (store !== undefined)
        store.diskFreeAt = Math.max(now, store.diskFreeAt) + (1000 * weightBytes) / shape.diskRate;
    }
  }
  instance.load = { source: way.source, bytes: weightBytes * dataParallel, beganAt: now };
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
