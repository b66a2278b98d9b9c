import type { CatalogModel, CatalogReport, EngineName, PollResult } from "@farmgate/engines";
import type { Api } from "@farmgate/shared";
import type { Breaker, PairFault, PairSilence } from "../routing/breaker.ts";

/** A worker as its owner configured it; times in milliseconds. */
export interface WorkerConfig {
  name: string;
  url: string;
  /** Who may have signed its certificate, as PEM; null or absent: whom this machine trusts. */
  ca?: string | null;
  engine: EngineName | "auto";
  weight: number | null;
  models: { allow: readonly string[]; deny: readonly string[] };
  /** 0: no cap. */
  maxConcurrent: number;
  apiKey: string | null;
  /** After the caller left, the answer is read on up to these limits; 0 and 0: the connection is closed. */
  drainOnAbort: { bytes: number; time: number };
}

export type CatalogEvent =
  /** The configured workers, at start and after a reload; known state of those that stay is kept. */
  | { type: "configured"; workers: readonly WorkerConfig[] }
  | { type: "polled"; worker: string; startedAt: number; result: PollResult }
  /** A request to the worker was refused a connection: last in its set until the next good poll. */
  | { type: "refused"; worker: string }
  /** Answer bytes came from the worker: it is alive, and this model answered. */
  | { type: "answered"; worker: string; model: string; at: number }
  /** The pair said 401, 403, 404, 405, 501 or its own "unknown model": set aside, for that API where one is given. */
  | { type: "disowned"; worker: string; model: string; api?: Api; reason: string }
  /** The pair's load failed. */
  | { type: "load_failed"; worker: string; model: string }
  /** A request failed by the pair's own fault; `unreached`: no connection came about. */
  | ({ type: "faulted"; worker: string; unreached?: boolean } & PairFault)
  /** Nothing comes of the pair, for longer than it takes. */
  | ({ type: "silent"; worker: string } & PairSilence)
  /** A request was sent that is the trial of an open breaker, if one is due; and that very one has ended. */
  | { type: "tried"; worker: string; model: string; at: number }
  | { type: "trial_over"; worker: string; model: string; at: number }
  /** A good answer of the pair came whole. */
  | { type: "served"; worker: string; model: string }
  | { type: "drain"; worker: string }
  | { type: "resume"; worker: string };

/** `/farm/workers` `state` without what the gateway's own in-flight adds. */
type WorkerHealth = "unknown" | "healthy" | "unhealthy" | "misconfigured";

/** A pair that is not to be asked for a while. */
export interface Aside {
  /** Milliseconds of `now`. */
  until: number;
  reason: string;
  /** Only for these: a model that cannot do embeddings still chats. Absent: for everything. */
  apis?: readonly Api[];
}

/** One worker inside the catalogue. */
export interface WorkerEntry {
  config: WorkerConfig;
  engine: EngineName | null;
  health: WorkerHealth;
  /** fresh: the last poll brought it; stale: the last poll failed, its data is still used; unreachable: none is usable. */
  catalog: "fresh" | "stale" | "unreachable";
  /** When the last good catalogue was asked for (ms of `now`); null: never. */
  catalogAt: number | null;
  /** Drained by an operator here, or said by the agent itself. */
  draining: boolean;
  refused: boolean;
  missedPolls: number;
  /** Why the last poll was not good; null after a good one. */
  problem: string | null;
  report: CatalogReport | null;
  /** Models of the last good catalogue that the owner allows, by `nameKey` of their own names. */
  byKey: ReadonlyMap<string, CatalogModel>;
  /** The same models by `nameKey` of their aliases; one that is a model's own name on this worker is not among these. */
  byAlias: ReadonlyMap<string, CatalogModel>;
  /** Pairs set aside, by nameKey. A changed catalogue clears them. */
  asideUntil: ReadonlyMap<string, Aside>;
  /** Of models whose last requests failed, by nameKey of the worker's own name. Gone once the worker is unhealthy. */
  breakers: ReadonlyMap<string, Breaker>;
  /** Models whose load failed: nameKey -> when the next try is due (ms of `now`). */
  retryAt?: ReadonlyMap<string, number>;
}

/** One model of the union over all workers, as `/v1/models` lists it. */
export interface UnionModel {
  id: string;
  key: string;
  kind: string;
  contextLength: number | null;
  workers: readonly string[];
  warm: readonly string[];
  /** Each worker's copy, where they are known to differ; null: as far as is known all are the same. */
  variants: readonly Variant[] | null;
}

/** One worker's copy of a model of which others have another one, as its catalogue tells it. */
export interface Variant {
  worker: string;
  digest: string | null;
  quantization: string | null;
  contextLength: number | null;
}

/** A model that some workers know by a certain alias. */
export interface AliasTarget {
  /** `nameKey` of its own name. */
  key: string;
  /** Its own name, as the first of them spells it. */
  id: string;
  workers: readonly string[];
}

/** The whole catalogue: an immutable value; every change makes a new one. */
export interface Catalog {
  workers: readonly WorkerEntry[];
  /**
   * Union of the models of all workers that are not unhealthy, by key; an alias that stands for one model points at the
   * same entry.
   */
  union: ReadonlyMap<string, UnionModel>;
  /**
   * What the aliases of workers stand for, by key; several models: the name is ambiguous. A model's own name, anywhere
   * in the farm, is none. Workers that are out count too, so that no name changes its meaning while one is away.
   */
  aliases: ReadonlyMap<string, readonly AliasTarget[]>;
  /** Keys that any catalogue has listed since start, for "never listed" and for `no_worker` instead of 404. */
  everListed: ReadonlySet<string>;
  /** Every usable worker has a known catalogue. */
  allKnown: boolean;
  /** Goes up with each change, so that caches can tell. */
  version: number;
}
