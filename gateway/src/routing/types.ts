import type { Api } from "@farmgate/shared";
import type { CatalogModel } from "@farmgate/engines";
import type { Copy } from "../catalog/copy.ts";
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
  /** What the caller asks for. */
  api: Api;
  /** The APIs as which the question can be put to a worker, best first: `api` itself, then its translations. */
  ways: readonly Api[];
  /** `wayKey` of the ways that led nowhere in this very request; grows as it is tried. */
  spent: ReadonlySet<string>;
  /** The one worker whose copy was asked for (`model@worker`); null: any will do. */
  only: string | null;
  /** What is known of the copies that failed in this very request: no other variant is asked then. null: none did. */
  held: Copy | null;
  /** What the caller's key allows: an error names no other models. */
  patterns: readonly string[];
  /** The worker that answered this conversation's prefix, if one is remembered. */
  prefixWorker: string | null;
}

/** In-flight counts, read only. */
export interface InflightView {
  worker(name: string): number;
  pair(name: string, key: string): number;
}

/** In-flight counts by model; the keys are those that `pair` is asked with. */
export interface InflightByModel extends InflightView {
  pairs(worker: string): ReadonlyMap<string, number>;
  /** As they were when the worker's last good catalogue came; null: not noted. */
  atPoll(worker: string): ReadonlyMap<string, number> | null;
}

/** What each gateway may fill of a cap while it cannot hear the others: an even share, and one request at least. */
export interface CapShare {
  /** Gateways that the farm had when they were last heard. */
  members: number;
  /** Requests that this gateway has at the worker. */
  own(worker: string): number;
}

/** What was learned of a worker with a model, in milliseconds; null: not known. */
export interface PairTimes {
  /** From the sending of a request that found the model warm and a slot free to the end of its answer. */
  serviceMs: number | null;
  /** How much longer a request takes that finds the model cold. */
  loadMs: number | null;
}

export interface LearnedView {
  /** `key`: nameKey of the worker's own name for the model. */
  of(worker: string, key: string): PairTimes | undefined;
}

/** By what waiting here is weighed against loading there. */
export interface Pricing {
  learned: LearnedView;
  inflight: InflightByModel;
  share?: CapShare;
  /** Requests that wait at the gateway for the same workers, and came before. */
  waitingAhead: number;
}

/** Waiting here was weighed against loading there. Predicted times in milliseconds. */
export interface Weighed {
  decision: "wait" | "swap";
  waitMs: number;
  swapMs: number;
  /** The one that is waited for, or that loads. */
  worker: string;
  reason: string;
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
  /** Absent: caps are for the requests of the whole farm, which `inflight` counts. */
  share?: CapShare;
  turns: TurnsView;
  strategy: Strategy;
  now: number;
  /** Absent: nothing is weighed, a lower set is for when the sets above have nobody. */
  pricing?: Pricing;
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
  /** As what it is asked: one of the request's ways. */
  api: Api;
  set: RoutingSet;
  warmth: Warmth;
  /** What `Turns.picked` takes for this choice. */
  turnWeight: number;
  reason: string;
  /** null: there was nothing to weigh. */
  weighed: Weighed | null;
}

export type Decision =
  | { kind: "send"; choice: Choice }
  /** Every worker of the best non-empty set is at its cap. `weighed` absent: there was nothing to weigh. */
  | { kind: "wait"; set: RoutingSet; weighed?: Weighed }
  /** Nothing (more) can serve it; `code` says which error, should nothing have been tried. */
  | { kind: "none"; code: "model_not_found" | "no_worker"; message: string };
