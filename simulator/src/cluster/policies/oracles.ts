import {
  CapacityOracle,
  ElasticityOracle,
  type ModelLoad,
  type Prediction,
  type Resources,
  safeDemand,
} from "@farmgate/gateway/policies";
import { seededRandom } from "@farmgate/shared";
import type { ClusterView, InstanceView, Role } from "../types.ts";
import { lineLoad } from "./line-load.ts";
import { busyInstances } from "./speeds.ts";
import { spanOf } from "./spans.ts";
import { recentLoad } from "./recent-load.ts";

export interface OraclesOptions {
  seed: number;
  /** A demand is the mean and so many deviations. */
  sigmas: number;
  /** Loads and shares on time that are learned from are of so long. */
  learnWindowMs: number;
  /** Kept per value and model: the real Oracle's 200 would take most of a run's time. */
  maxPoints: number;
  fitPoints: number;
  /** Asked again when a load has changed by a larger share, or when more was learned. */
  moved: number;
}

export const ORACLES: Omit<OraclesOptions, "seed"> = {
  sigmas: 1,
  learnWindowMs: 10_000,
  maxPoints: 60,
  fitPoints: 40,
  moved: 0.1,
};

interface Answer {
  load: ModelLoad;
  learned: number;
  shares: readonly Prediction[];
}

/** The gateway's Oracle, which knows of the models what their profile says, and learns what the cluster measures. */
export class Oracles {
  readonly #options: OraclesOptions;
  readonly #capacity: CapacityOracle;
  readonly #elasticity: ElasticityOracle;
  readonly #answers = new Map<string, Answer>();
  readonly #demands = new Map<number, { load: ModelLoad; learned: number; demand: Resources }>();
  /** Measurements by application. */
  readonly #learned: number[] = [];
  /** Replicas of each role when it was last looked. */
  readonly #counts = new Map<string, number>();

  constructor(view: ClusterView, options: OraclesOptions) {
    this.#options = options;
    const byName = new Map(view.applications.map((one) => [one.name, one.model]));
    const facts = (name: string) => {
      const model = byName.get(name.slice(0, name.lastIndexOf(".")));
      if (model === undefined) return {};
      const { weightBytes, activeParameters, kvBytesPerToken } = model;
      return { weightBytes, activeParameters, kvBytesPerToken, span: spanOf(model) };
    };
    const { seed, maxPoints, fitPoints } = options;
    const learning = { random: seededRandom(seed), maxPoints, fitPoints };
    const device = { compute: view.shape.deviceCompute, bandwidth: view.shape.deviceBandwidth };
    this.#capacity = new CapacityOracle({ learning, facts, device });
    this.#elasticity = new ElasticityOracle({ learning, facts, device });
  }

  /** What a load takes of all devices of one stable replica together, on the safe side. */
  demand(app: number, view: ClusterView, load: ModelLoad): Resources {
    const learned = this.#learned[app] ?? 0;
    const known = this.#demands.get(app);
    if (known !== undefined && known.learned === learned && this.#isNear(known.load, load)) return known.demand;
    const demand = safeDemand(this.#capacity.predict(keyOf(app, view, "both"), load), this.#options.sigmas);
    this.#demands.set(app, { load, learned, demand });
    return demand;
  }

  /** The share on time with so many replicas of a role. */
  onTime(app: number, role: Role, view: ClusterView, load: ModelLoad, replicas: number): Prediction {
    const key = keyOf(app, view, role);
    const learned = this.#learned[app] ?? 0;
    const known = this.#answers.get(key);
    const isCurrent = known !== undefined && known.learned === learned && this.#isNear(known.load, load);
    if (isCurrent && replicas <= known.shares.length) return known.shares[replicas - 1] ?? NOTHING;
    const most = Math.max(replicas, known?.shares.length ?? 0, 8);
    const shares = this.#elasticity.predictReplicas(key, lineLoad(load, role), most);
    this.#answers.set(key, { load, learned, shares });
    return shares[replicas - 1] ?? NOTHING;
  }

  /** Learns from the time since it was last called. */
  learn(view: ClusterView): void {
    for (const app of view.applications.keys()) {
      const load = recentLoad(view, app, this.#options.learnWindowMs);
      const active = view.instancesOf(app).filter(({ state }) => state === "active");
      const wasSteady = this.#isSteady(app, active);
      if (load.requestsPerSecond === 0 || active.length === 0 || !wasSteady) continue;
      this.#learned[app] = (this.#learned[app] ?? 0) + 1;
      if (active.every((instance) => isAlone(instance, view))) {
        this.#capacity.observe(keyOf(app, view, "both"), load, usedBy(active, view));
      }
      this.#learnShares(app, active, view, load);
    }
  }

  /** A miss is laid to the role that is busier: of the other one nothing was learned, unless all went well. */
  #learnShares(app: number, active: readonly InstanceView[], view: ClusterView, load: ModelLoad): void {
    const application = view.applications[app];
    const share = view.onTime(app, this.#options.learnWindowMs);
    if (share === null || application === undefined) return;
    const count = (role: Role) => active.filter((instance) => instance.role === role).length;
    const [both, prefill, decode] = [count("both"), count("prefill"), count("decode")];
    const observe = (role: Role, replicas: number) =>
      this.#elasticity.observe(keyOf(app, view, role), lineLoad(load, role), replicas, share);
    if (both > 0 && prefill + decode === 0) observe("both", both);
    if (both > 0 || prefill === 0 || decode === 0) return;
    const busy = busyInstances(view.shape, application, load);
    const isPrefill = busy.prefill / prefill > busy.decode / decode;
    const wentWell = share >= 0.95;
    if (isPrefill || wentWell) observe("prefill", prefill);
    if (!isPrefill || wentWell) observe("decode", decode);
  }

  /** Whether its replicas are as they were. */
  #isSteady(app: number, active: readonly InstanceView[]): boolean {
    let isSteady = true;
    for (const role of ["both", "prefill", "decode"] as const) {
      const count = active.filter((instance) => instance.role === role).length;
      const key = `${app}.${role}`;
      isSteady &&= this.#counts.get(key) === count;
      this.#counts.set(key, count);
    }
    return isSteady;
  }

  #isNear(a: ModelLoad, b: ModelLoad): boolean {
    const near = (x: number, y: number) => Math.abs(x - y) <= this.#options.moved * Math.max(x, y);
    return (
      near(a.requestsPerSecond, b.requestsPerSecond) &&
      near(a.inputMean, b.inputMean) &&
      near(a.outputMean, b.outputMean)
    );
  }
}

/** Beside another both are slowed, and what an instance then takes is less than what its load needs. */
function isAlone({ devices }: InstanceView, view: ClusterView): boolean {
  return devices.every((device) => view.onDevice(device).length === 1);
}

/** Measured, over all its instances. */
function usedBy(active: readonly InstanceView[], view: ClusterView): Resources {
  const sum = { memory: 0, compute: 0, bandwidth: 0 };
  for (const { id } of active) {
    const { memory, compute, bandwidth } = view.used(id);
    sum.memory += memory;
    sum.compute += compute;
    sum.bandwidth += bandwidth;
  }
  return sum;
}

function keyOf(app: number, view: ClusterView, role: Role): string {
  return `${view.applications[app]?.name ?? app}.${role}`;
}

const NOTHING: Prediction = { mean: 0, variance: 0 };
