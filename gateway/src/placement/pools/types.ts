import type { ModelLoad, Prediction, Resources } from "../oracle/types.ts";

export type Pool = "stable" | "elastic";

/** One place for replicas: a worker of the farm, or one device of a large host. */
export interface Bin {
  id: string;
  /** Bins of one host may carry one replica together. */
  host: string;
  /** Its place in the host, from 0: a replica of n bins takes n that follow each other from a multiple of n. */
  index: number;
  capacity: Resources;
  /** Stable replicas that it holds at most. */
  maxModels: number;
}

/** A model kept loaded on bins. */
export interface Replica {
  id: string;
  /** The model's id, or that of one of its lines. */
  model: string;
  /**
   * As which it was started. A model without lines needs no other copy when it goes from pool to pool: its replicas
   * belong to the pool that `PoolsState` names.
   */
  pool: Pool;
  bins: readonly string[];
  state: "starting" | "active" | "draining";
  /**
   * The replica that it takes the place of, while a move is under way: the two count as one. Once it is active, the old
   * one is shown as draining, or gone.
   */
  replaces?: string;
}

/** What the pools must know of a model that is, or was lately, in use. */
export interface ModelView {
  id: string;
  /** Bins that one replica takes (its tensor parallelism); 1 in a farm of workers. */
  span: number;
  load: ModelLoad;
  /** Tokens a second of late, in and out. */
  heat: number;
  /**
   * What one stable replica takes of all its bins together, on the safe side: mean + k sigma. Of a line only the memory
   * is read: what must be free for it to start beside a replica that is leaving.
   */
  demand: Resources;
  /** The share on time with so many replicas, by the Oracle. */
  onTime(replicas: number): Prediction;
  /**
   * Elastic replicas beyond which no more are taken, whatever `onTime` says: at so many it is far from using what they
   * have, and what is late then is late for another reason. Absent: no such number.
   */
  enough?: number;
  /** Where it can be loaded at all; null: anywhere. */
  allowed: ReadonlySet<string> | null;
  /**
   * What it is served by in the elastic pool, each with an id of its own: its prefill and its decode part. They go in and
   * out of the pool together, and each has one replica at least. Absent: the model is its own line, and serves the same
   * in both pools.
   */
  lines?: readonly ModelView[];
  /** Milliseconds that it takes to be loaded again once it is gone; absent: not known. */
  reloadMs?: number;
}

/** What is to be done, in this order. `bins` as in `Replica`; `model` may be the id of a line. */
export type PoolAction =
  | { kind: "activate"; model: string; pool: Pool; bins: readonly string[]; reason: string }
  | { kind: "release"; replica: string; reason: string }
  /** First the copy at its new place, then the old one goes; when the first fails, all stays as it was. */
  | { kind: "move"; replica: string; to: readonly string[]; reason: string };

export interface PoolsInput {
  now: number;
  bins: readonly Bin[];
  /** Those of models that are not in `models` are not ours: neither they nor their bins are touched. */
  replicas: readonly Replica[];
  models: readonly ModelView[];
  /** Bins in use by something else. */
  foreign?: ReadonlySet<string>;
}

/** What is remembered from one plan to the next; an immutable value. */
export interface PoolsState {
  /** Where each model belongs, and since when (milliseconds). */
  pools: ReadonlyMap<string, { pool: Pool; since: number }>;
  /** Lines that got more replicas of late: when, and how many they had before. */
  growth: ReadonlyMap<string, Growth>;
  /** Lines for which fewer replicas would do: since when, and the most of these that were wanted since. */
  surplus: ReadonlyMap<string, Surplus>;
  /** Elastic replica counts and heats of the last plans, the newest first. */
  plans: readonly ElasticPlan[];
  /** Since when each model has had no load (milliseconds). */
  idleSince: ReadonlyMap<string, number>;
  /** Since when one replica has been enough for each model of the elastic pool (milliseconds). */
  singleSince: ReadonlyMap<string, number>;
  /** When the whole stable pool was last looked at; null: never. */
  repackedAt: number | null;
}

export interface Growth {
  since: number;
  from: number;
}

export interface Surplus {
  since: number;
  most: number;
}

export interface ElasticPlan {
  at: number;
  counts: ReadonlyMap<string, number>;
  heats: ReadonlyMap<string, number>;
}

export interface PoolsDecision {
  state: PoolsState;
  actions: readonly PoolAction[];
  /** Sentences for `advise`, logs and the simulator: also why nothing is done. */
  reasons: readonly string[];
}
