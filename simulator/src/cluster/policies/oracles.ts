import {
  CapacityOracle,
  DEFAULT_POOL_RULES,
  ElasticityOracle,
  expectedShare,
  type ModelLoad,
  type ObservedShare,
  type Prediction,
  type Resources,
  safeDemand,
} from "@farmgate/gateway/policies";
import { seededRandom } from "@farmgate/shared";
import type { ClusterView, InstanceView, Role } from "../types.ts";
import { USUAL_BATCH } from "../profiles.ts";
import { lineLoad } from "./line-load.ts";
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
  learnWindowMs: 5_000,
  maxPoints: 60,
  fitPoints: 40,
  moved: 0.1,
};

const ROLES = ["both", "prefill", "decode"] as const;

interface Look {
  count: number;
  /** Now or at the last look. */
  fewest: number;
  isSteady: boolean;
}

/** The share on time that the pools aim at. */
const TARGET = DEFAULT_POOL_RULES.target;

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
  /** What the last look saw of each line. */
  readonly #observed = new Map<string, ObservedShare>();
  /** Replicas of each role when it was last looked. */
  readonly #counts = new Map<string, number>();

  constructor(view: ClusterView, options: OraclesOptions) {
    this.#options = options;
    const byName = new Map(view.applications.map((one) => [one.name, one.model]));
    const facts = (name: string) => {
      const model = byName.get(name.slice(0, name.lastIndexOf(".")));
      if (model === undefined) return {};
      const { weightBytes, activeParameters, kvBytesPerToken } = model;
      return { weightBytes, activeParameters, kvBytesPerToken, span: spanOf(model), batch: 2 * USUAL_BATCH };
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
    const rules = { share: TARGET, caution: this.#options.sigmas };
    const predict = (count: number) => this.#predicted(app, role, view, load, count);
    return expectedShare(predict, replicas, this.#observed.get(keyOf(app, view, role)) ?? null, rules);
  }

  #predicted(app: number, role: Role, view: ClusterView, load: ModelLoad, replicas: number): Prediction {
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
      const [both, prefill, decode] = ROLES.map((role) => this.#look(app, role, active)) as [Look, Look, Look];
      if (load.requestsPerSecond === 0 || active.length === 0) continue;
      this.#learned[app] = (this.#learned[app] ?? 0) + 1;
      const isSteady = both.isSteady && prefill.isSteady && decode.isSteady;
      if (isSteady && active.every((instance) => isAlone(instance, view))) {
        this.#capacity.observe(keyOf(app, view, "both"), load, usedBy(active, view));
      }
      const observe = (role: Role, { count, fewest, isSteady }: Look, inTime: number | null) => {
        const key = keyOf(app, view, role);
        if (inTime === null) this.#observed.delete(key);
        else this.#observed.set(key, { copies: fewest, stood: isSteady, share: inTime });
        if (!isSteady || count === 0 || inTime === null) return;
        this.#elasticity.observe(key, lineLoad(load, role), count, inTime);
      };
      if (prefill.count + decode.count === 0) observe("both", both, view.onTime(app, this.#options.learnWindowMs));
      if (both.count > 0) continue;
      // First tokens are what prefill replicas are for, and those after them what decode replicas are for.
      const { first, rest } = view.inTime(app, this.#options.learnWindowMs);
      observe("prefill", prefill, first);
      observe("decode", decode, rest);
    }
  }

  /** How many replicas of a role there are, and whether there were as many at the last look. */
  #look(app: number, role: Role, active: readonly InstanceView[]): Look {
    const count = active.filter((instance) => instance.role === role).length;
    const key = `${app}.${role}`;
    const before = this.#counts.get(key) ?? 0;
    this.#counts.set(key, count);
    return { count, fewest: Math.min(before, count), isSteady: before === count };
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
