import type { CatalogEvent, WorkerConfig } from "../catalog/types.ts";
import type { CompleteAnswer } from "../routing/learned.ts";

/** A worker that announced itself. */
export interface RegisteredWorker {
  config: WorkerConfig;
  /** Of one run of its agent. */
  instance: string;
  /** The announcement holds for so long, from when it was told; in milliseconds. */
  leaseMs: number;
}

/** An operator's word on a worker. The latest holds, by wall time in milliseconds. */
export interface DrainNote {
  worker: string;
  draining: boolean;
  at: number;
}

/** What gateways that act as one tell each other. Moments are told as their age in milliseconds. */
export type News =
  /** What one of them saw of a worker, as the others' catalogues take it. */
  | { kind: "catalog"; event: CatalogEvent; ageMs: number }
  | { kind: "drain"; note: DrainNote }
  | { kind: "registered"; worker: RegisteredWorker }
  | { kind: "unregistered"; worker: string; instance: string }
  /** The worker answered the conversation whose prefix has this hash. */
  | { kind: "answered-prefix"; hash: string; worker: string }
  | { kind: "learned"; worker: string; key: string; answer: CompleteAnswer };

/** What one of them asks all others. */
export type Question =
  /** What a new one, or one that was away, has missed. Answer: `SharedState`. */
  | { kind: "state" }
  /** Answer: what `/farm/requests` tells of those under way there. */
  | { kind: "requests" }
  /** Ends a request there. Answer: true where it was; undefined elsewhere. */
  | { kind: "cancel"; id: string; by: string }
  /** Answer: the figures of the process, as prom-client's `getMetricsAsJSON` has them. */
  | { kind: "metrics" };

export interface SharedState {
  drains: readonly DrainNote[];
  registered: readonly RegisteredWorker[];
}
