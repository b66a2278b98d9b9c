import type { Api } from "@farmgate/shared";
import type { CatalogModel } from "@farmgate/engines";
import type { Catalog, WorkerEntry } from "../catalog/types.ts";
import type { LastCopiesView } from "../placement/last-copies.ts";

/** The contract's word for where the chosen worker stands with the model. */
export type Warmth = "warm" | "possibly-warm" | "loading" | "cold" | "unlisted";

/**
 * The sets of contract section 4, best first; a worker that is out has none. `breaker-open` is for pairs whose last
 * requests failed: after all others that have the model, rather than to refuse the request.
 */
export type RoutingSet = "leading" | "loading" | "cold" | "failed" | "breaker-open" | "unlisted";

/** What routing needs to know of a request. */
export interface RoutingRequest {
  /** `nameKey` of the catalogue name (the caller's alias already resolved). */
  key: string;
  /** The catalogue name as it was spelled: what a worker gets that does not list the model. */
  name: string;
  api: Api;
  /** The worker that answered this conversation's prefix, if one is remembered. */
  prefixWorker: string | null;
}

/** In-flight counts, read only. */
export interface InflightView {
  worker(name: string): number;
  pair(name: string, key: string): number;
}

/** Who was picked when, for fair turns; written by `Turns.picked` alone. */
export interface TurnsView {
  /** Virtual time of the worker for the model of this key: lower goes first. */
  pass(worker: string, key: string): number;
}

export type Strategy = "least-connections" | "weighted" | "round-robin";

export interface RoutingContext {
  catalog: Catalog;
  inflight: InflightView;
  turns: TurnsView;
  strategy: Strategy;
  now: number;
  /** Absent: no warm copy is spared. */
  lastCopies?: LastCopiesView;
}

/** One worker for one request, with the reason in words. */
export interface Choice {
  worker: WorkerEntry;
  /** null when the worker's catalogue does not list it. */
  model: CatalogModel | null;
  /** The spelling to send upstream. */
  upstreamModel: string;
  set: RoutingSet;
  warmth: Warmth;
  /** What `Turns.picked` takes for this choice. */
  turnWeight: number;
  reason: string;
}

export type Decision =
  | { kind: "send"; choice: Choice }
  /** Every worker of the best non-empty set is at its cap. */
  | { kind: "wait"; set: RoutingSet }
  /** Nothing (more) can serve it; `code` says which error, should nothing have been tried. */
  | { kind: "none"; code: "model_not_found" | "no_worker"; message: string };
