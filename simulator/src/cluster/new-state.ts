import { seededRandom } from "@farmgate/shared";
import type { Trace } from "../trace/types.ts";
import { EventQueue } from "../virtual/event-queue.ts";
import { type ClusterCollector, noCounts } from "./collector.ts";
import { HostStore } from "./host-store.ts";
import { loadWays } from "./load-ways.ts";
import { MemoryPool } from "./memory-pool.ts";
import type { EngineParameters } from "./parameters.ts";
import { RecentLoad } from "./recent-load.ts";
import { RequestBook } from "./request-book.ts";
import type { ClusterState } from "./state.ts";
import type { Application, ClusterShape } from "./types.ts";
import { WaitingRequests } from "./waiting-requests.ts";

/** An empty cluster before a trace. The memory of each host is full of copies, drawn by the seed: it has run for long. */
export function newState(
  trace: Trace,
  applications: readonly Application[],
  shape: ClusterShape,
  parameters: EngineParameters,
  collector: ClusterCollector,
  seed: number,
): ClusterState {
  const devices = shape.hosts * shape.devicesPerHost;
  const each = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);
  const state: ClusterState = {
    now: 0,
    shape,
    parameters,
    applications,
    trace,
    collector,
    counts: noCounts(),
    refusals: new Map(),
    events: new EventQueue(),
    requests: new RequestBook(trace.at.length),
    waiting: each(applications.length, () => new WaitingRequests()),
    handovers: each(applications.length, () => []),
    recent: each(applications.length, () => new RecentLoad()),
    serving: each(applications.length, () => ({ prefill: [], decode: [], spare: [] })),
    ofApp: each(applications.length, () => []),
    onDevice: each(devices, () => []),
    pools: each(devices, () => new MemoryPool(shape.deviceMemory, parameters)),
    prefillsOn: new Uint8Array(devices),
    decodesOn: new Uint8Array(devices),
    ways: loadWays(shape, parameters),
    hosts: each(shape.hosts, () => new HostStore(shape.hostMemory)),
    instances: [],
    byId: new Map(),
    wantRoom: new Set(),
    holders: Array.from({ length: trace.at.length }, () => null),
    nextArrival: 0,
    nextId: 0,
    occupied: 0,
  };
  const random = seededRandom(seed);
  for (const host of state.hosts) {
    for (const app of shuffled(applications.length, random)) {
      const { weightBytes } = (applications[app] as Application).model;
      if (host.heldBytes + weightBytes <= shape.hostMemory) host.keep(app, weightBytes);
    }
  }
  return state;
}

function shuffled(count: number, random: () => number): number[] {
  const list = Array.from({ length: count }, (_, place) => place);
  for (let place = count - 1; place > 0; place--) {
    const other = Math.floor(random() * (place + 1));
    [list[place], list[other]] = [list[other] as number, list[place] as number];
  }
  return list;
}
