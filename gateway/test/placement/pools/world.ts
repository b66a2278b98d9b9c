import type {
  Bin,
  ModelView,
  Pool,
  PoolAction,
  PoolsDecision,
  PoolsInput,
  PoolsState,
  Replica,
} from "../../../src/placement/pools/types.ts";
import { DEFAULT_POOL_RULES, NO_POOLS, type PoolRules } from "../../../src/placement/pools/rules.ts";
import { planPools } from "../../../src/placement/pools/plan-pools.ts";

/** A bin of capacity 100 memory, 1 compute, 1 bandwidth unless told otherwise. */
export function bin(id: string, over: Partial<Bin> = {}): Bin {
  return { id, host: id, index: 0, capacity: { memory: 100, compute: 1, bandwidth: 1 }, maxModels: 2, ...over };
}

/** `count` hosts of `each` devices: h0.0, h0.1, ... */
export function hosts(count: number, each: number, over: Partial<Bin> = {}): Bin[] {
  return Array.from({ length: count * each }, (_, n) => {
    const host = Math.floor(n / each);
    return bin(`h${host}.${n % each}`, { host: `h${host}`, index: n % each, ...over });
  });
}

/** Takes memory, compute and bandwidth; on time when each replica has at most 1,000 tokens a second. */
export function model(id: string, takes: readonly [number, number, number], over: Partial<ModelView> = {}): ModelView {
  const heat = over.heat ?? 100;
  const [memory, compute, bandwidth] = takes;
  return {
    id,
    span: 1,
    load: { requestsPerSecond: heat / 100, inputMean: 80, inputVariance: 0, outputMean: 20, outputVariance: 0 },
    heat,
    demand: { memory, compute, bandwidth },
    onTime: (replicas) => ({ mean: Math.min(1, (1_000 * replicas) / Math.max(1, heat)), variance: 0 }),
    allowed: null,
    ...over,
  };
}

export function idle(view: ModelView): ModelView {
  const onTime = () => ({ mean: 1, variance: 0 });
  return { ...view, heat: 0, load: { ...view.load, requestsPerSecond: 0 }, onTime };
}

export function replica(id: string, of: string, bins: readonly string[], over: Partial<Replica> = {}): Replica {
  return { id, model: of, pool: "stable", bins, state: "active", ...over };
}

export function inPools(pools: Readonly<Record<string, Pool>>, over: Partial<PoolsState> = {}): PoolsState {
  const since = Object.entries(pools).map(([id, pool]) => [id, { pool, since: Number.NEGATIVE_INFINITY }] as const);
  return { ...NO_POOLS, pools: new Map(since), repackedAt: 0, ...over };
}

export function rulesWith(over: Partial<PoolRules> = {}): PoolRules {
  return { ...DEFAULT_POOL_RULES, ...over };
}

/** Actions in short: "a -> h0.0", "r1 gone", "r1 => h0.1". */
export function brief(actions: readonly PoolAction[]): readonly string[] {
  return actions.map((action) => {
    switch (action.kind) {
      case "activate":
        return `${action.model} -> ${action.bins.join("+")}`;
      case "release":
        return `${action.replica} gone`;
      case "move":
        return `${action.replica} => ${action.to.join("+")}`;
    }
  });
}

/** A farm that does at once, or in two steps, what it is told. */
export class World {
  bins: readonly Bin[];
  models: readonly ModelView[];
  replicas: readonly Replica[] = [];
  foreign: ReadonlySet<string> = new Set();
  state: PoolsState = NO_POOLS;
  now = 1_000_000;
  #made = 0;
  readonly rules: PoolRules;

  constructor(bins: readonly Bin[], models: readonly ModelView[], rules: PoolRules = DEFAULT_POOL_RULES) {
    this.bins = bins;
    this.models = models;
    this.rules = rules;
  }

  input(): PoolsInput {
    const { now, bins, replicas, models, foreign } = this;
    return { now, bins, replicas, models, foreign };
  }

  plan(): PoolsDecision {
    const decision = planPools(this.input(), this.state, this.rules);
    this.state = decision.state;
    return decision;
  }

  /** What is begun: new ones start, old ones drain. */
  begin(actions: readonly PoolAction[]): void {
    for (const action of actions) {
      if (action.kind === "release") this.#change(action.replica, { state: "draining" });
      else if (action.kind === "activate") {
        const { model, pool, bins } = action;
        this.#add({ model, pool, bins });
      } else {
        const old = this.replicas.find(({ id }) => id === action.replica);
        if (old !== undefined) this.#add({ model: old.model, pool: old.pool, bins: action.to, replaces: old.id });
      }
    }
  }

  /** All that was begun is done. */
  finish(): void {
    const replaced = new Set(this.replicas.map(({ replaces }) => replaces));
    this.replicas = this.replicas
      .filter(({ id, state }) => state !== "draining" && !replaced.has(id))
      .map(({ id, model, pool, bins }) => ({ id, model, pool, bins, state: "active" as const }));
  }

  /** Plans and does, until nothing is left to do; how often it took. */
  settle(most = 12): number {
    for (let round = 0; round < most; round += 1) {
      const { actions } = this.plan();
      if (actions.length === 0) return round;
      this.begin(actions);
      this.finish();
    }
    return Number.POSITIVE_INFINITY;
  }

  #add(made: Pick<Replica, "model" | "pool" | "bins"> & { replaces?: string }): void {
    this.#made += 1;
    this.replicas = [...this.replicas, { id: `r${this.#made}`, state: "starting", ...made }];
  }

  #change(id: string, change: Partial<Replica>): void {
    this.replicas = this.replicas.map((each) => (each.id === id ? { ...each, ...change } : each));
  }
}
