import type { ModelLoad } from "@farmgate/gateway/policies";
import type {
  Application,
  ClusterAction,
  ClusterShape,
  ClusterView,
  InstanceView,
  ModelProfile,
  Role,
} from "../../../src/cluster/types.ts";

const GIGABYTE = 1e9;

export const SHAPE: ClusterShape = {
  hosts: 2,
  devicesPerHost: 8,
  deviceMemory: 58 * GIGABYTE,
  deviceCompute: 200e12,
  deviceBandwidth: 1.2e12,
  peerRate: 20e9,
  hostRate: 20e9,
  remoteRate: 10e9,
  diskRate: 2e9,
  hostMemory: 1000 * GIGABYTE,
};

export function model(tensorParallel = 1, weightGigabytes = 16): ModelProfile {
  return {
    name: `m${tensorParallel}-${weightGigabytes}`,
    weightBytes: weightGigabytes * GIGABYTE,
    activeParameters: (weightGigabytes / 2) * 1e9,
    kvBytesPerToken: 131_072,
    tensorParallel,
    dataParallel: 1,
  };
}

export function application(name: string, of: ModelProfile = model()): Application {
  return { name, model: of, ttftMs: 1_000, tpotMs: 50 };
}

export const NO_LOAD: ModelLoad = {
  requestsPerSecond: 0,
  inputMean: 0,
  inputVariance: 0,
  outputMean: 0,
  outputVariance: 0,
};

export function load(requestsPerSecond: number, inputMean = 1_000, outputMean = 200): ModelLoad {
  return { requestsPerSecond, inputMean, inputVariance: inputMean ** 2, outputMean, outputVariance: outputMean ** 2 };
}

export interface Fake {
  now?: number;
  shape?: ClusterShape;
  loads?: readonly ModelLoad[];
  waiting?: readonly number[];
  onTime?: readonly (number | null)[];
  instances?: readonly InstanceView[];
}

export function fakeView(applications: readonly Application[], fake: Fake = {}): ClusterView {
  const instances = fake.instances ?? [];
  const onDevice = (device: number) => instances.filter((it) => it.devices.includes(device));
  return {
    now: fake.now ?? 100_000,
    shape: fake.shape ?? SHAPE,
    applications,
    instances,
    instancesOf: (app) => instances.filter((it) => it.app === app),
    onDevice,
    isFree: (device) => onDevice(device).length === 0,
    waiting: (app) => fake.waiting?.[app] ?? 0,
    load: (app) => fake.loads?.[app] ?? NO_LOAD,
    onTime: (app) => fake.onTime?.[app] ?? null,
    inTime: (app) => ({ first: fake.onTime?.[app] ?? null, rest: fake.onTime?.[app] ?? null }),
    used: () => ({ memory: 20 * GIGABYTE, compute: 0.3, bandwidth: 0.3 }),
    loadMs: () => 1_000,
  };
}

export function instance(id: number, app: number, devices: readonly number[], more: Partial<InstanceView> = {}) {
  const role: Role = "both";
  return { id, app, role, devices, state: "active" as const, running: 1, idleSince: null, ...more };
}

export function activations(actions: readonly ClusterAction[]) {
  return actions.filter((action) => action.kind === "activate");
}

/** Devices that more than one action, or an action and an instance, would hold. */
export function clashes(actions: readonly ClusterAction[], view: ClusterView): number[] {
  const devices = activations(actions).flatMap((action) => [...action.devices]);
  return devices.filter((device, i) => devices.indexOf(device) !== i || !view.isFree(device));
}

/** True when it is one span: within a host from a multiple of its size, or whole hosts. */
export function isAligned(devices: readonly number[], { devicesPerHost }: ClusterShape): boolean {
  const [first = -1] = devices;
  const follow = devices.every((device, i) => device === first + i);
  return follow && (first % devicesPerHost) % Math.min(devices.length, devicesPerHost) === 0;
}
