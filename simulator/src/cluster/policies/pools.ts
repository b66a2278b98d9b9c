import {
  type Bin,
  DEFAULT_POOL_RULES,
  type ModelView,
  NO_POOLS,
  type PoolAction,
  type PoolRules,
  type PoolsInput,
  type PoolsState,
  planPools,
  type Replica,
} from "@farmgate/gateway/policies";
import type { ClusterAction, ClusterPolicy, ClusterView } from "../types.ts";
import { Belongings } from "./belongings.ts";
import { clusterBins } from "./cluster-bins.ts";
import { ORACLES, Oracles } from "./oracles.ts";
import { servedBy } from "./line-names.ts";
import { partsNeeded, pooledModel, stableParts } from "./pool-models.ts";
import { recentLoad } from "./recent-load.ts";

/** Published: at most two models share a device; the elastic pool is looked at twice a second. */
const MODELS_PER_DEVICE = 2;
const PLAN_MS = 500;
const LEARN_MS = 5_000;
/** A cold application is planned for at once, but not more often than this. */
const COLD_MS = 100;
/** An application of the stable pool alone keeps a replica that it no longer needs for so long. */
const PART_HOLD_MS = 30_000;

export interface PoolsOptions {
  name: string;
  seed: number;
  rules?: Partial<PoolRules>;
  /** One pool that is stable: an application has as many replicas there as its load needs. */
  severalStable?: boolean;
}

/** The gateway's own two pools, driven in virtual time by its own Oracle, that learns as it goes. */
export function createPools({ name, seed, rules = {}, severalStable = false }: PoolsOptions): ClusterPolicy {
  let driver: PoolsDriver | null = null;
  const driverOf = (view: ClusterView) => {
    driver ??= new PoolsDriver(view, seed, { ...DEFAULT_POOL_RULES, ...rules }, severalStable);
    return driver;
  };
  return {
    name,
    dispatch: "lst-imh",
    start: () => [],
    loops: [
      { everyMs: PLAN_MS, run: (view) => driverOf(view).plan(view) },
      { everyMs: LEARN_MS, run: (view) => driverOf(view).learn(view) },
    ],
    onCold: (_app, view) => driverOf(view).planForCold(view),
  };
}

class PoolsDriver {
  readonly #rules: PoolRules;
  readonly #bins: readonly Bin[];
  readonly #oracles: Oracles;
  readonly #severalStable: boolean;
  readonly #belongings = new Belongings();
  #state: PoolsState = NO_POOLS;
  #coldAt = Number.NEGATIVE_INFINITY;
  /** By application: parts that it is served in, and since when fewer would do. */
  readonly #parts = new Map<number, { count: number; fewerSince: number | null }>();

  constructor(view: ClusterView, seed: number, rules: PoolRules, severalStable: boolean) {
    this.#rules = rules;
    this.#bins = clusterBins(view.shape, MODELS_PER_DEVICE);
    this.#oracles = new Oracles(view, { ...ORACLES, seed });
    this.#severalStable = severalStable;
  }

  plan(view: ClusterView): ClusterAction[] {
    const replicas = this.#belongings.replicas(view);
    const known = new Set(view.instances.map(({ app }) => app));
    const apps = [...view.applications.keys()].filter((app) => known.has(app) || this.#isAsked(app, view));
    const models = apps.flatMap((app) => this.#modelsOf(app, view)).map((model) => this.#kept(model, replicas));
    const ours = new Set(replicas.map(({ id }) => id));
    const others = view.instances.filter(({ id }) => !ours.has(String(id)));
    const foreign = new Set(others.flatMap(({ devices }) => devices.map(String)));
    const input: PoolsInput = { now: view.now, bins: this.#bins, replicas, models, foreign };
    const { state, actions } = planPools(input, this.#state, this.#rules);
    this.#state = state;
    const possible = this.#severalStable ? onePerDevice(actions) : actions;
    return [...releasesOfParts(replicas, models), ...this.#belongings.actions(possible, view)];
  }

  planForCold(view: ClusterView): ClusterAction[] {
    if (view.now - this.#coldAt < COLD_MS) return [];
    this.#coldAt = view.now;
    return this.plan(view);
  }

  learn(view: ClusterView): ClusterAction[] {
    this.#oracles.learn(view);
    return [];
  }

  /** Away from devices that hold another instance of its application, which may be leaving: there is no second one beside it. */
  #kept(model: ModelView, replicas: readonly Replica[]): ModelView {
    const { app } = servedBy(model.id);
    const others = replicas.filter((other) => servedBy(other.model).app === app);
    const leaving = others.filter(({ state }) => state === "draining");
    const inParts = this.#severalStable ? others.filter((other) => other.model !== model.id) : [];
    const barred = new Set([...leaving, ...inParts].flatMap(({ bins }) => bins));
    if (barred.size === 0) return model;
    const allowed = new Set(this.#bins.map(({ id }) => id).filter((id) => !barred.has(id)));
    const lines = model.lines?.map((line) => ({ ...line, allowed }));
    return lines === undefined ? { ...model, allowed } : { ...model, allowed, lines };
  }

  #modelsOf(app: number, view: ClusterView) {
    if (!this.#severalStable) return [pooledModel(app, view, this.#oracles)];
    return stableParts(app, view, this.#oracles, this.#partsOf(app, view));
  }

  /** More at once, fewer when that has been enough for a while. */
  #partsOf(app: number, view: ClusterView): number {
    const before = this.#parts.get(app);
    const needed = partsNeeded(app, view, this.#oracles, before?.count ?? 1);
    if (before === undefined || needed >= before.count) {
      this.#parts.set(app, { count: needed, fewerSince: null });
      return needed;
    }
    const fewerSince = before.fewerSince ?? view.now;
    const isLong = view.now - fewerSince >= PART_HOLD_MS;
    this.#parts.set(app, isLong ? { count: needed, fewerSince: null } : { count: before.count, fewerSince });
    return isLong ? needed : before.count;
  }

  #isAsked(app: number, view: ClusterView): boolean {
    return view.waiting(app) > 0 || recentLoad(view, app, 60_000).requestsPerSecond > 0;
  }
}

/** The pools leave alone what they are not told of, as the parts of a load that is served in fewer by now. */
function releasesOfParts(replicas: readonly Replica[], models: readonly ModelView[]): ClusterAction[] {
  const known = new Set(models.flatMap(({ id, lines = [] }) => [id, ...lines.map((line) => line.id)]));
  return replicas
    .filter(({ model, state }) => !known.has(model) && state !== "draining")
    .map(({ id }) => ({ kind: "release", instance: Number(id), reason: "fewer are enough" }));
}

/** Parts of one load look like different models to the pools. Those that came later go elsewhere in the next plan. */
function onePerDevice(actions: readonly PoolAction[]): PoolAction[] {
  const taken = new Set<string>();
  return actions.filter((action) => {
    // Where a move may go has been looked at before (`#kept`).
    if (action.kind !== "activate") return true;
    const keys = action.bins.map((bin) => `${servedBy(action.model).app}@${bin}`);
    if (keys.some((key) => taken.has(key))) return false;
    for (const key of keys) taken.add(key);
    return true;
  });
}
