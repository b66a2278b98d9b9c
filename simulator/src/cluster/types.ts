import type { ModelLoad } from "@farmgate/gateway/policies";

/** All devices of a cluster are of one kind. Rates per second. */
export interface ClusterShape {
  hosts: number;
  devicesPerHost: number;
  /** Bytes that models may use on a device. */
  deviceMemory: number;
  /** Floating-point operations, as reached in practice. */
  deviceCompute: number;
  /** Bytes, as reached in practice. */
  deviceBandwidth: number;
  /** Bytes from one device to another, from a host's memory to one device of it, from its disk. */
  peerRate: number;
  hostRate: number;
  /** Bytes from another host's memory to one device, over the network. */
  remoteRate: number;
  diskRate: number;
  /** Bytes of weights that a host's memory keeps. */
  hostMemory: number;
}

/** A base model as it is served. */
export interface ModelProfile {
  name: string;
  weightBytes: number;
  /** Of a mixture of experts: bytes of the weights that one token reads; absent: all. */
  activeWeightBytes?: number;
  /** That one token passes through. */
  activeParameters: number;
  kvBytesPerToken: number;
  /** Devices that one replica spans; fixed. */
  tensorParallel: number;
  /** Replicas that are started and stopped together; fixed. */
  dataParallel: number;
}

export interface Application {
  name: string;
  model: ModelProfile;
  /** Milliseconds to the first token, and for each one after it, that its callers expect. */
  ttftMs: number;
  tpotMs: number;
}

/** `both`: prefill and decode on the same devices, in each other's way. */
export type Role = "both" | "prefill" | "decode";

export interface InstanceView {
  readonly id: number;
  readonly app: number;
  readonly role: Role;
  readonly devices: readonly number[];
  readonly state: "starting" | "active" | "draining";
  /** Requests that it works at. */
  readonly running: number;
  /** Virtual milliseconds: since when it has had nothing to do; null: it has. */
  readonly idleSince: number | null;
}

/** What a policy may look at. Applications and devices are places in lists. */
export interface ClusterView {
  readonly now: number;
  readonly shape: ClusterShape;
  readonly applications: readonly Application[];
  readonly instances: readonly InstanceView[];
  instancesOf(app: number): readonly InstanceView[];
  /** Those whose replicas are on the device, draining ones included. */
  onDevice(device: number): readonly InstanceView[];
  isFree(device: number): boolean;
  /** Requests that no instance has taken yet. */
  waiting(app: number): number;
  /** Of the last `windowMs`. */
  load(app: number, windowMs: number): ModelLoad;
  /** Share of those that ended, in the last `windowMs`, within both of its limits; null: none ended. */
  onTime(app: number, windowMs: number): number | null;
  /** The same for each limit by itself: the first token of all that ended, the tokens after it of those that had one. */
  inTime(app: number, windowMs: number): { first: number | null; rest: number | null };
  /** Measured lately on the instance: bytes, and shares of its devices' time, summed over them. */
  used(instance: number): { memory: number; compute: number; bandwidth: number };
  /** Milliseconds until an instance of it would be ready on these devices, by the cheapest way. */
  loadMs(app: number, devices: readonly number[]): number;
}

export type ClusterAction =
  /** The devices must be free, or hold others of the same policy that share. `live`: it serves while it loads. */
  | { kind: "activate"; app: number; role: Role; devices: readonly number[]; live?: boolean; reason: string }
  /** No new requests; its devices are free when its last one ends. */
  | { kind: "release"; instance: number; reason: string }
  /** Starts it at `to`; releases the old one when the new one is ready. */
  | { kind: "move"; instance: number; to: readonly number[]; reason: string };

/**
 * In which order the requests of an application go to its instances. `lst-imh`: see the gateway's scheduling.
 * `least-slack`: by arrival + limit - predicted prefill (Prism's). `first-come`.
 */
export type DispatchOrder = "lst-imh" | "least-slack" | "first-come";

export interface ClusterPolicy {
  readonly name: string;
  readonly dispatch: DispatchOrder;
  /** Before the first request. */
  start(view: ClusterView): readonly ClusterAction[];
  /** Each is called every so many virtual milliseconds. */
  readonly loops: readonly { everyMs: number; run(view: ClusterView): readonly ClusterAction[] }[];
  /** A request came for an application without an instance; absent: it waits for a loop. */
  onCold?(app: number, view: ClusterView): readonly ClusterAction[];
}
