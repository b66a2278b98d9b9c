import type { PollResult } from "@farmgate/engines";
import type { CatalogEvent, WorkerConfig } from "../catalog/types.ts";
import type { UncountedFigures } from "../placement/live/request-figures.ts";
import type { AskedKind } from "../routing/first-bytes.ts";
import type { CompleteAnswer } from "../routing/learned.ts";
import type { RatedAnswer } from "../scheduling/pair-rates.ts";

/** A worker that announced itself. */
export interface RegisteredWorker {
  config: WorkerConfig;
  /** The announcement holds for so long, from when it was told; in milliseconds. */
  leaseMs: number;
}

/** Of a request and its answer, as the engine counted them. */
export interface CountedTokens {
  prompt: number | null;
  completion: number | null;
}

/** An operator's word on a worker. The latest holds, by wall time in milliseconds. */
export interface DrainNote {
  worker: string;
  draining: boolean;
  at: number;
}

/** What gateways that act as one tell each other. Moments are told as their age in milliseconds. */
export type News =
  /**
   * What one of them saw of a worker, as the others' catalogues take it. `ageMs`: of the event's own moment, which
   * stands in it on the teller's clock, so that the end of a trial can be told apart from another's.
   */
  | { kind: "catalog"; event: CatalogEvent; ageMs: number }
  /** A poll that one of them made; its start has this age. `result` null: once more what was told by this hash. */
  | { kind: "polled"; worker: string; ageMs: number; hash: string; result: PollResult | null }
  | { kind: "drain"; note: DrainNote }
  | { kind: "registered"; worker: RegisteredWorker }
  | { kind: "unregistered"; worker: string }
  /** The worker answered the conversation whose prefix has this hash. */
  | { kind: "answered-prefix"; hash: string; worker: string }
  /** What whole answers teach: times and costs, speeds, and how long a first byte takes. */
  | { kind: "learned"; worker: string; key: string; answer: CompleteAnswer }
  | { kind: "rated"; worker: string; key: string; answer: RatedAnswer }
  | { kind: "first-byte"; asked: AskedKind; ms: number | null; ageMs: number }
  /** A request for the model of this key of the catalogue came; and one has ended, where models are placed. */
  | { kind: "asked"; key: string }
  | { kind: "ended"; key: string; figures: UncountedFigures; usage: CountedTokens | null };

/** What one of them asks all others. */
export type Question =
  /** What a new one, or one that was away, has missed. Answer: `SharedState`. */
  | { kind: "state" }
  /** Answer: what `/farm/requests` tells of those under way there. */
  | { kind: "requests" }
  /**
   * Ends a request there, if it is of the key of this name; null: whosever it is. Answer: true where it was; undefined
   * elsewhere.
   */
  | { kind: "cancel"; id: string; by: string | null }
  /** Answer: the figures of the process, as prom-client's `getMetricsAsJSON` has them. */
  | { kind: "metrics" }
  /** Asked among processes of one host alone, as the one before. Answer: how many requests run and wait there. */
  | { kind: "load" };

export interface SharedState {
  drains: readonly DrainNote[];
  registered: readonly RegisteredWorker[];
}
