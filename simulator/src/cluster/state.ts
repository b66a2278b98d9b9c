import type { EventQueue } from "../virtual/event-queue.ts";
import type { Trace } from "../trace/types.ts";
import type { ClusterCollector, ClusterCounts } from "./collector.ts";
import type { Engine } from "./engine.ts";
import type { HostStore } from "./host-store.ts";
import type { Instance } from "./instance.ts";
import type { LoadWays } from "./load-ways.ts";
import type { MemoryPool } from "./memory-pool.ts";
import type { EngineParameters } from "./parameters.ts";
import type { RecentLoad } from "./recent-load.ts";
import type { RequestBook } from "./request-book.ts";
import type { Application, ClusterShape } from "./types.ts";
import type { WaitingRequests } from "./waiting-requests.ts";

export type ClusterEvent =
  | { kind: "arrival" }
  | { kind: "prefilled" | "decoded"; engine: Engine; turn: number }
  | { kind: "handed"; from: Engine; to: Engine; request: number }
  | { kind: "half-loaded" | "loaded"; instance: Instance }
  | { kind: "loop"; index: number }
  | { kind: "sweep" };

/** Engines of an application that take requests now. */
export interface Serving {
  prefill: Engine[];
  decode: Engine[];
  /** `both`, which take what was prefilled elsewhere only when there is no `decode`. */
  spare: Engine[];
}

/** All of a simulated cluster at one moment. */
export interface ClusterState {
  now: number;
  readonly shape: ClusterShape;
  readonly parameters: EngineParameters;
  readonly applications: readonly Application[];
  readonly trace: Trace;
  readonly collector: ClusterCollector;
  readonly counts: ClusterCounts;
  /** Of the policy's actions, by reason. */
  readonly refusals: Map<string, number>;
  readonly events: EventQueue<ClusterEvent>;
  readonly requests: RequestBook;
  /** By application. */
  readonly waiting: readonly WaitingRequests[];
  /** By application: requests with a first token that no instance has taken for the rest. */
  readonly handovers: readonly number[][];
  readonly recent: readonly RecentLoad[];
  readonly serving: readonly Serving[];
  readonly ofApp: readonly Instance[][];
  /** By device. */
  readonly onDevice: readonly Instance[][];
  readonly pools: readonly MemoryPool[];
  /** By device: engines that read a prompt, and that have a batch. */
  readonly prefillsOn: Uint8Array;
  readonly decodesOn: Uint8Array;
  readonly ways: LoadWays;
  readonly hosts: readonly HostStore[];
  readonly instances: Instance[];
  readonly byId: Map<number, Instance>;
  /** Instances whose place is still taken by requests of others. */
  readonly wantRoom: Set<Instance>;
  /** By place in the trace: the engine that has the request's state; null: none. */
  readonly holders: (Engine | null)[];
  nextArrival: number;
  nextId: number;
  /** Devices that are not free. */
  occupied: number;
}
